import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { task } from '../../src/index.js';
import { serve } from '../../src/http/serve.js';
import { testApp } from '../../src/testkit/index.js';
import { ApiRig, type RigOptions } from './api-rig.js';
import { say } from './say.js';
import { contentsOf } from './store-contents.js';

const JOBS = '/api/v1/jobs';

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({ served: true, ...options });
  onTestFinished(() => rig.stop());
  return rig;
}

describe('JOB-13 the envelope', () => {
  test('of a success, and of an error, with the request’s own id and trace', async () => {
    const rig = await rigOf();
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { 'x-request-id': 'req-1', traceparent: `00-${trace}-00f067aa0ba902b7-01` };
    const made = await rig.post(JOBS, { job_type: 'w' }, { headers });
    expect(Object.keys(made.body)).toEqual(['success', 'data', 'message', 'meta']);
    expect(made.body['meta']).toEqual({ trace_id: trace, request_id: 'req-1' });
    const missing = await rig.get(`${JOBS}/no-such-job`, { headers });
    expect(missing.body).toEqual({
      success: false,
      error: {
        code: 'JOB_NOT_FOUND',
        message: expect.stringContaining('no-such-job') as string,
        retryable: false,
        class: 'validation',
        details: { job_id: 'no-such-job' },
      },
      meta: { trace_id: trace, request_id: 'req-1' },
    });
    const odd = await rig.get(JOBS, { headers: { 'x-request-id': 'no id', traceparent: 'nonsense' } });
    const { request_id, trace_id } = odd.body['meta'] as Record<string, string>;
    expect([request_id, trace_id]).toEqual([expect.stringMatching(/^[0-9A-Z]{26}$/), `trace-${request_id}`]);
  });

  test('JOB-1 a job has its fields', async () => {
    const rig = await rigOf();
    const { data } = await rig.post(JOBS, { job_type: 'w', payload: { a: [1] }, trace_id: 'mine' });
    expect(data).toMatchObject({
      tenant_id: 'default',
      job_type: 'w',
      status: 'queued',
      retry_count: 0,
      error_code: null,
      payload_json: { a: [1] },
      trace_id: 'mine',
    });
    for (const name of ['job_id', 'idempotency_key', 'created_at', 'updated_at'])
      expect(data[name]).toEqual(expect.any(String));
  });

  test('created 201, hit 200, duplicate 409 with what conflicts', async () => {
    const rig = await rigOf();
    const ask = (change: object) =>
      rig.post(JOBS, { job_type: 'w', payload: 1, idempotency_key: 'k', ...change });
    const made = await ask({});
    const hit = await ask({});
    expect([made.status, hit.status, hit.data['idempotent_hit'], hit.data['job_id']]).toEqual([
      201,
      200,
      true,
      made.data['job_id'],
    ]);
    const other = await ask({ job_type: 'x', payload: 2 });
    expect([other.status, other.error.code, other.error['conflict_fields']]).toEqual([
      409,
      'DUPLICATE',
      ['job_type', 'payload'],
    ]);
    const run = await rig.post('/api/v1/runs', { workflow_name: 'x', input: 1, idempotency_key: 'k' });
    expect([run.status, run.error['conflict_fields']]).toEqual([409, ['workflow_name']]);
    const bulk = await rig.post(`${JOBS}/bulk`, {
      jobs: [
        { job_type: 'w' },
        { job_type: 'w', payload: 1, idempotency_key: 'k' },
        { job_type: 'w', payload: 3, idempotency_key: 'k' },
      ],
    });
    expect(bulk.data['jobs']).toEqual([
      expect.objectContaining({ status: 'queued', idempotent_hit: false }),
      { job_id: made.data['job_id'], status: 'queued', idempotent_hit: true },
      { error: expect.objectContaining({ code: 'DUPLICATE', conflict_fields: ['payload'] }) as object },
    ]);
  });

  test('a task’s own schema refuses its input, naming where', async () => {
    const strict = task({ name: 'strict', input: z.object({ n: z.number() }) }, () => null);
    const rig = await rigOf({ tasks: [strict] });
    const { status, error } = await rig.post(JOBS, { job_type: 'strict', payload: { n: 'one' } });
    expect([status, error.code]).toEqual([400, 'INVALID_INPUT']);
    expect((await rig.post(JOBS, { job_type: 'strict', payload: { n: 1 } })).status).toBe(201);
  });

  test('nothing there: 404; another method: 405, with those that it takes', async () => {
    const rig = await rigOf();
    const missing = await rig.get('/api/v2/jobs');
    expect([missing.status, missing.error.code]).toEqual([404, 'ROUTE_NOT_FOUND']);
    const wrong = await rig.call('PATCH', JOBS);
    expect([wrong.status, wrong.error.code, wrong.headers.get('allow')]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      'POST, GET',
    ]);
    const preflight = await rig.call('OPTIONS', JOBS, { headers: { origin: 'https://evil.example' } });
    expect(preflight.status).toBe(405);
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('what cannot be read', () => {
  test('JOB-13 is refused with a clear 4xx, and nothing is stored', async () => {
    const rig = await rigOf();
    const before = await contentsOf(rig.app.store);
    const deep = `{"job_type":"w","payload":${'['.repeat(70)}${']'.repeat(70)}}`;
    const cases: readonly (readonly [string, Record<string, string>, number, string])[] = [
      ['', {}, 400, 'INVALID_REQUEST'],
      ['{', {}, 400, 'INVALID_REQUEST'],
      ['null', {}, 400, 'INVALID_REQUEST'],
      ['[]', {}, 400, 'INVALID_REQUEST'],
      ['"text"', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"w"} {}', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"w","__proto__":{"admin":true}}', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"w","payload":{"a":{"__proto__":1}}}', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"w","payload":{"\\u005f_proto__":1}}', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"w","unknown":1}', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"a\\u0000b"}', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"a\\ud800b"}', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"w","idempotency_key":"a\\u0007"}', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"w","priority":1e308}', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"w","delay_ms":-1}', {}, 400, 'INVALID_REQUEST'],
      ['{"job_type":"w","delay_ms":5,"run_at":"2030-01-01T00:00:00Z"}', {}, 400, 'INVALID_OPTION'],
      ['{"job_type":"w","payload":{"amount":1e999}}', {}, 400, 'INVALID_INPUT'],
      [deep, {}, 400, 'INVALID_REQUEST'],
      [`{"job_type":"w","payload":${'['.repeat(65)}${']'.repeat(65)}}`, {}, 413, 'PAYLOAD_TOO_LARGE'],
      [`{"job_type":"w","payload":"${'x'.repeat(1_048_576)}"}`, {}, 413, 'PAYLOAD_TOO_LARGE'],
      [`{"job_type":"w","payload":"${'x'.repeat(4_194_304)}"}`, {}, 413, 'REQUEST_TOO_LARGE'],
      ['{"job_type":"w"}', { 'content-type': 'text/plain' }, 415, 'MEDIA_TYPE_UNSUPPORTED'],
      ['job_type=w', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'MEDIA_TYPE_UNSUPPORTED'],
    ];
    for (const [body, headers, status, code] of cases) {
      const reply = await rig.post(JOBS, body, { headers });
      expect([body.slice(0, 60), reply.status, reply.error.code]).toEqual([body.slice(0, 60), status, code]);
      expect(JSON.stringify(reply.body).length).toBeLessThan(3_000);
    }
    expect(await contentsOf(rig.app.store)).toEqual(before);
  });

  test('bytes that are no UTF-8, and a body without an end', async () => {
    const rig = await rigOf();
    const key = rig.keys['operator'] ?? '';
    const head = `POST ${JOBS} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
    const broken = '{"job_type":"\xff\xfe"}';
    expect(await say(rig.url, `${head}content-length: ${broken.length}\r\n\r\n${broken}`)).toContain(
      'not UTF-8',
    );
    const chunk = 'x'.repeat(65_536);
    const chunks = `10000\r\n${chunk}\r\n`.repeat(65);
    const heard = await say(rig.url, `${head}transfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    expect(heard).toMatch(/^HTTP\/1\.1 413 /);
    expect(heard).toContain('REQUEST_TOO_LARGE');
    expect((await rig.get(JOBS)).data['jobs']).toEqual([]);
  });

  test('a host or an address that cannot be one', async () => {
    const rig = await rigOf();
    for (const line of [
      'GET /healthz HTTP/1.1\r\nhost: a b',
      'GET /healthz HTTP/1.1\r\nhost: x/y@z',
      'GET //[bad HTTP/1.1\r\nhost: :',
      'GET /x\\y HTTP/1.1\r\nhost: A',
    ]) {
      const heard = await say(rig.url, `${line}\r\nconnection: close\r\n\r\n`);
      expect(heard).toMatch(/^HTTP\/1\.1 400 /);
      expect(JSON.parse(heard.slice(heard.indexOf('{'), heard.lastIndexOf('}') + 1))).toMatchObject({
        success: false,
        error: { code: 'INVALID_REQUEST' },
      });
    }
    for (const path of [
      '/%',
      '/api/v1/jobs/%zz',
      '/api/v1/jobs/%ff%fe',
      '/api/v1/tasks/%00',
      '/api/v1/dlq/%ed%a0%80',
      '/api/v1/jobs/..%2f..%2fetc',
    ]) {
      const { status } = await rig.get(path);
      expect([path, status >= 400 && status < 500]).toEqual([path, true]);
    }
  });
});

describe('the server', () => {
  test('JOB-14 does not listen where others reach it, unless there is a key', async () => {
    const app = await testApp({ work: false });
    onTestFinished(() => app.stop());
    for (const host of ['0.0.0.0', '::', 'example.com', '192.0.2.1', '127.0.0.1.evil.example']) {
      await expect(serve(app.app, { host, port: 0 })).rejects.toMatchObject({ code: 'KEYS_REQUIRED' });
    }
    const rig = await ApiRig.start();
    const open = await serve(rig.app.app, { host: '0.0.0.0', port: 0 });
    const url = open.url.replace('0.0.0.0', '127.0.0.1');
    expect((await fetch(`${url}${JOBS}`)).status).toBe(401);
    const headers = { authorization: `Bearer ${rig.keys['viewer'] ?? ''}` };
    expect((await fetch(`${url}${JOBS}`, { headers })).status).toBe(200);
    await rig.app.run(open.close());
    await rig.stop();
  });

  test('an address that is taken is an error that says so', async () => {
    const rig = await rigOf();
    const port = Number(new URL(rig.url).port);
    await expect(serve(rig.app.app, { port })).rejects.toMatchObject({ code: 'ADDRESS_UNUSABLE' });
  });

  test('GUA-11 /readyz is true only while the store answers and the worker can work', async () => {
    const rig = await rigOf();
    expect((await rig.get('/readyz', { key: null })).data).toEqual({ status: 'ready' });
    let answers = true;
    const { store } = rig.app;
    const silent = {
      ...store,
      pausedQueues: () => (answers ? store.pausedQueues() : new Promise<never>(() => undefined)),
    };
    const stuck = await ApiRig.start({ store: silent, clock: rig.app.clock, seed: 3, keys: false });
    answers = false;
    const { status, error } = await stuck.app.run(stuck.get('/readyz', { key: null }), { atMost: '3s' });
    expect([status, error.code, error['retryable']]).toEqual([503, 'NOT_READY', true]);
    await stuck.stop();
  });

  test('a caller that goes away while it waits is no error', async () => {
    const logged: unknown[] = [];
    const quiet = () => undefined;
    const log = { debug: quiet, info: quiet, warn: quiet, error: (text: string) => void logged.push(text) };
    const rig = await ApiRig.start({ log });
    onTestFinished(() => rig.stop());
    const { data } = await rig.post(JOBS, { job_type: 'w' });
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${rig.keys['viewer'] ?? ''}` };
    const url = `${rig.url}${JOBS}/${String(data['job_id'])}?wait_ms=60000`;
    const asked = rig.send(new Request(url, { headers, signal: leaving.signal }));
    await rig.app.idle();
    leaving.abort();
    expect([(await asked).status, logged]).toEqual([499, []]);
  });

  test('a bug is a 500 that tells a stranger nothing', async () => {
    const secret = 'postgres://user:hunter2@db';
    const rig = await ApiRig.start();
    const broken = { ...rig.app.store, list: async () => Promise.reject(new TypeError(secret)) };
    const rigged = await ApiRig.start({ store: broken, clock: rig.app.clock, seed: 4 });
    const { status, error, body } = await rigged.get(JOBS);
    expect([status, error.code]).toEqual([500, 'INTERNAL']);
    expect(JSON.stringify(body)).not.toContain('hunter2');
    await rigged.stop();
    await rig.stop();
  });
});
