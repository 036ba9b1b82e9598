import { describe, expect, onTestFinished, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { fakeClock, T0 } from '../../src/testkit/index.js';
import { ApiRig } from './api-rig.js';

const ROOT = '/api/v1/dlq';

async function rigOf(): Promise<ApiRig> {
  const rig = await ApiRig.start({ served: true });
  onTestFinished(() => rig.stop());
  return rig;
}

/** A job that failed: the id of its dead letter. */
async function deadLetter(rig: ApiRig, job_type = 'ship'): Promise<string> {
  const { data } = await rig.post('/api/v1/jobs', { job_type, payload: { parcel: 7 } });
  return String((await rig.drill(String(data['job_id']), '?force_fail=true')).data['dlq_id']);
}

type Entry = { action: string; subject: string; by: string; reason: string | null };
const auditOf = async (rig: ApiRig, subject: string): Promise<Entry[]> => {
  const { data } = await rig.get('/api/v1/audit');
  return (data['entries'] as Entry[]).filter((entry) => entry.subject === subject);
};
const idOf = (rig: ApiRig, key: string): string => rig.keys[key]?.split('_')[1] ?? '';

describe('dead letters', () => {
  test('JOB-9 the audit of a requeue has its reason, and is made up for where the process died before it was written', async () => {
    const clock = fakeClock(T0);
    const store = memoryStore({ clock });
    const putRecord = store.putRecord.bind(store);
    let dies = false;
    store.putRecord = async (record, expected) => {
      if (dies && record.kind === 'audit') throw new Error('the process dies here');
      return putRecord(record, expected);
    };
    const rig = await ApiRig.start({ served: true, clock, store });
    onTestFinished(() => rig.stop());
    const id = await deadLetter(rig);
    const requeue = () =>
      rig.post(`${ROOT}/${id}/requeue`, { reason: 'mended' }, { headers: { 'idempotency-key': 'k' } });
    dies = true;
    expect((await requeue()).status).toBe(500);
    expect(await auditOf(rig, id)).toEqual([]);
    dies = false;
    for (let n = 0; n < 2; n++) expect((await requeue()).status).toBe(201);
    expect(await auditOf(rig, id)).toMatchObject([{ action: 'requeue', reason: 'mended' }]);
  });

  test('JOB-8 a requeue makes a new job that knows its dead letter, once', async () => {
    const rig = await rigOf();
    const id = await deadLetter(rig);
    const made = await rig.post(`${ROOT}/${id}/requeue`);
    expect(made.status).toBe(201);
    expect(made.data).toMatchObject({
      status: 'queued',
      retry_count: 0,
      requeued_from: id,
      payload_json: { parcel: 7 },
    });
    const item = (await rig.get(`${ROOT}/${id}`)).data;
    expect(item).toMatchObject({ status: 'requeued', requeued_as: made.data['job_id'] });
    expect(item['job_id']).not.toBe(made.data['job_id']);
    for (const path of ['requeue', 'discard', 'discard/approve']) {
      const body = path === 'discard' ? { reason: 'x' } : {};
      const { status, error } = await rig.post(`${ROOT}/${id}/${path}`, body);
      expect([path, status, error.code]).toEqual([path, 409, 'DLQ_REQUEUE_CONFLICT']);
    }
    expect(await auditOf(rig, id)).toEqual([
      expect.objectContaining({ action: 'requeue', by: `operator:${idOf(rig, 'operator')}` }),
    ]);
  });

  test('JOB-8 twenty requeues at once: one job', async () => {
    const rig = await rigOf();
    const id = await deadLetter(rig);
    const all = await Promise.all(Array.from({ length: 20 }, () => rig.post(`${ROOT}/${id}/requeue`)));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(all.filter(({ error }) => error.code === 'DLQ_REQUEUE_CONFLICT')).toHaveLength(19);
    expect((await rig.get('/api/v1/jobs')).data['jobs']).toHaveLength(2);
  });

  test('JOB-8 in bulk, by filter: a dry run counts, the real one does it', async () => {
    const rig = await rigOf();
    for (let n = 0; n < 3; n++) await deadLetter(rig, 'ship');
    const kept = await deadLetter(rig, 'bill');
    const dry = await rig.post(`${ROOT}/requeue`, { job_type: 'ship', dry_run: true });
    expect(dry.data).toEqual({ requeued: 3, passed_over: 0, dry_run: true });
    expect((await rig.get(ROOT)).data['items']).toHaveLength(4);
    const done = await rig.post(`${ROOT}/requeue`, { job_type: 'ship', error_code: 'TASK_EXECUTION_FAILED' });
    expect(done.data).toEqual({ requeued: 3, passed_over: 0, dry_run: false });
    expect((await rig.get(ROOT)).data['items']).toEqual([expect.objectContaining({ dlq_id: kept })]);
    expect((await rig.get(`${ROOT}?status=requeued&limit=2`)).data['items']).toHaveLength(2);
    expect((await rig.post(`${ROOT}/requeue`, {}, { key: 'other' })).data['requeued']).toBe(0);
  });

  test('JOB-8 no faster than the rate', async () => {
    const rig = await rigOf();
    for (let n = 0; n < 3; n++) await deadLetter(rig);
    let isOver = false;
    const done = rig.post(`${ROOT}/requeue`, { per_second: 1 }).finally(() => {
      isOver = true;
    });
    const left = async () => ((await rig.get(ROOT)).data['items'] as unknown[]).length;
    await expect.poll(left).toBe(2);
    rig.app.clock.advance(999);
    expect([await left(), isOver]).toEqual([2, false]);
    rig.app.clock.advance(1);
    await expect.poll(left).toBe(1);
    rig.app.clock.advance(1_000);
    expect((await done).data['requeued']).toBe(3);
  });

  test('JOB-9 a discard takes two reviewers and a reason; it is a tombstone, and both are on record', async () => {
    const rig = await rigOf();
    const id = await deadLetter(rig);
    for (const body of [{}, { reason: '' }, { reason: '  ' }]) {
      const { status, error } = await rig.post(`${ROOT}/${id}/discard`, body);
      expect([status, error.code]).toEqual([400, 'APPROVAL_REQUIRED']);
    }
    const early = await rig.post(`${ROOT}/${id}/discard/approve`, {}, { key: 'colleague' });
    expect([early.status, early.error.code]).toEqual([400, 'APPROVAL_REQUIRED']);
    const asked = await rig.post(`${ROOT}/${id}/discard`, { reason: 'parcel lost\nfor good' });
    expect(asked.data).toMatchObject({
      status: 'open',
      discard_asked: { by: `operator:${idOf(rig, 'operator')}` },
    });
    const alone = await rig.post(`${ROOT}/${id}/discard/approve`);
    expect([alone.status, alone.error.code]).toEqual([400, 'APPROVAL_REQUIRED']);
    expect((await rig.post(`${ROOT}/${id}/discard/approve`, {}, { key: 'other' })).status).toBe(404);
    expect((await rig.post(`${ROOT}/${id}/discard/approve`, {}, { key: 'viewer' })).status).toBe(403);
    const agreed = await rig.post(`${ROOT}/${id}/discard/approve`, {}, { key: 'colleague' });
    expect([agreed.status, agreed.data['status']]).toEqual([200, 'discarded']);
    expect((await rig.get(`${ROOT}/${id}`)).data).toMatchObject({
      status: 'discarded',
      payload_snapshot: { parcel: 7 },
    });
    expect((await rig.post(`${ROOT}/${id}/requeue`)).error.code).toBe('DLQ_REQUEUE_CONFLICT');
    expect((await auditOf(rig, id)).map(({ action, by, reason }) => [action, by, reason])).toEqual([
      ['ask_discard', `operator:${idOf(rig, 'operator')}`, 'parcel lost\nfor good'],
      ['discard', `operator:${idOf(rig, 'colleague')}`, 'parcel lost\nfor good'],
    ]);
  });

  test('JOB-7 the item: what failed, why, and what led to it', async () => {
    const rig = await rigOf();
    const id = await deadLetter(rig);
    const { data } = await rig.get(`${ROOT}/${id}`);
    expect(data).toMatchObject({
      dlq_id: id,
      tenant_id: 'default',
      job_type: 'ship',
      error_code: 'TASK_EXECUTION_FAILED',
      status: 'open',
      payload_snapshot: { parcel: 7 },
      context_snapshot: { attempts: [expect.objectContaining({ attempt: 1 })] },
    });
  });

  test('a job that ended is done once more as a new one, by way of its dead letter where it has one', async () => {
    const rig = await rigOf();
    const id = await deadLetter(rig);
    const failed = String((await rig.get(`${ROOT}/${id}`)).data['job_id']);
    const again = await rig.post(`/api/v1/jobs/${failed}/retry`);
    expect([again.status, again.data['requeued_from']]).toEqual([201, id]);
    const live = await rig.post(`/api/v1/jobs/${String(again.data['job_id'])}/retry`);
    expect([live.status, live.error.code]).toEqual([409, 'WF_STATE_TRANSITION_INVALID']);
    await rig.drill(String(again.data['job_id']));
    const third = await rig.post(`/api/v1/jobs/${String(again.data['job_id'])}/retry`);
    expect([third.status, third.data['requeued_from'], third.data['payload_json']]).toEqual([
      201,
      null,
      { parcel: 7 },
    ]);
  });

  test('JOB-8 the new job goes on with what the old one has recorded, if that is asked for', async () => {
    const rig = await rigOf();
    const id = await deadLetter(rig);
    const { data: letter } = await rig.get(`${ROOT}/${id}`);
    const both = await rig.post(`${ROOT}/${id}/requeue`, { keep_recorded: true, repeat_effects: true });
    expect([both.status, both.error.code]).toEqual([400, 'INVALID_OPTION']);
    const keeping = await rig.post(`${ROOT}/${id}/requeue`, { keep_recorded: true });
    expect([keeping.status, keeping.data['continues']]).toEqual([201, letter['job_id']]);
    const other = await rig.post(`/api/v1/jobs/${String(letter['job_id'])}/retry`, { keep_recorded: true });
    expect([other.status, other.error.code]).toEqual([409, 'CONTINUED_ALREADY']);
  });
});
