import { expect, onTestFinished, test } from 'vitest';
import { ApiRig } from './api-rig.js';
import { say } from './say.js';

const JOBS = '/api/v1/jobs';

async function rigOf(): Promise<ApiRig> {
  const rig = await ApiRig.start({ served: true });
  onTestFinished(() => rig.stop());
  return rig;
}

test('JOB-13 no body at all is an empty one: refused only where it lacks a field, which is named', async () => {
  const rig = await rigOf();
  const { data } = await rig.post(JOBS, { job_type: 'w' });
  const missing = await rig.call('POST', JOBS);
  expect([missing.status, missing.error.code, missing.error['details']]).toMatchObject([
    400,
    'INVALID_REQUEST',
    { field: 'body.job_type' },
  ]);
  const typed = await rig.post(JOBS, '');
  expect([typed.status, typed.error['details']]).toMatchObject([400, { field: 'body.job_type' }]);
  const cancel = `${JOBS}/${String(data['job_id'])}/cancel`;
  const key = { 'idempotency-key': 'cancel-1' };
  expect((await rig.call('POST', cancel, { headers: key })).status).toBe(200);
  const again = await rig.post(cancel, {}, { headers: key });
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  for (const headers of [{}, { 'content-type': 'application/json' }]) {
    const dead = await rig.post(JOBS, { job_type: 'w' });
    const { data: drilled } = await rig.drill(String(dead.data['job_id']), '?force_fail=true');
    const requeue = `/api/v1/dlq/${String(drilled['dlq_id'])}/requeue`;
    expect((await rig.call('POST', requeue, { headers })).status).toBe(201);
  }
});

test('JOB-13 a body of another kind is refused before it is read', async () => {
  const rig = await rigOf();
  const head = `POST ${JOBS} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nauthorization: Bearer ${rig.keys['operator'] ?? ''}\r\n`;
  for (const sent of [
    'content-length: 2\r\n\r\n{}',
    'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  ]) {
    expect(await say(rig.url, head + sent)).toMatch(/^HTTP\/1\.1 415 .*has no content-type/s);
  }
  const none = await say(rig.url, `${head}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`);
  expect(none).toMatch(/^HTTP\/1\.1 400 .*body\.job_type/s);
});

test('JOB-13 a page has to say that what it sends is JSON, so that its browser asks first', async () => {
  const rig = await rigOf();
  const { data } = await rig.post(JOBS, { job_type: 'w' });
  const cancel = `${JOBS}/${String(data['job_id'])}/cancel`;
  const silent = await rig.call('POST', cancel, { headers: { origin: rig.url } });
  expect([silent.status, silent.error.code]).toEqual([415, 'MEDIA_TYPE_UNSUPPORTED']);
  expect((await rig.post(cancel, {}, { headers: { origin: rig.url } })).status).toBe(200);
});
