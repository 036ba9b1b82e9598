import { describe, expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { ApiRig, type Reply, type RigOptions } from './api-rig.js';

const approve = task({ name: 'approve' }, async ({ step }) => step.waitFor('approval'));
const narrow = task({ name: 'narrow', signals: ['approval'] }, async ({ step }) => step.waitFor('approval'));
const late = task({ name: 'late' }, async ({ step }) => {
  await step.waitFor('first');
  return step.waitFor('second');
});

const hasty = task({ name: 'hasty' }, async ({ step }) => {
  await step.waitFor('first', { timeout: '1m' });
  return step.waitFor('second');
});

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({
    served: true,
    tasks: [approve, narrow, late, hasty],
    work: {},
    ...options,
  });
  onTestFinished(() => rig.stop());
  return rig;
}

async function started(rig: ApiRig, job_type: string): Promise<string> {
  const { data } = await rig.post('/api/v1/jobs', { job_type });
  return String(data['job_id']);
}

const statusOf = async (rig: ApiRig, id: string) => (await rig.get(`/api/jobs/${id}`)).data['status'];
async function until(rig: ApiRig, id: string, status: string): Promise<void> {
  await expect.poll(() => statusOf(rig, id)).toBe(status);
}
const signal = (rig: ApiRig, id: string, body: unknown): Promise<Reply> =>
  rig.post(`/api/jobs/${id}/signal`, body);
const completions = async (rig: ApiRig, id: string) => {
  const { data } = await rig.get(`/api/jobs/${id}/events`);
  return (data['events'] as { event: string }[]).filter(({ event }) => event === 'wait_completed');
};

describe('GUA-8 POST /api/jobs/:id/signal', () => {
  test('completes the wait; sent again, also long after, it answers 200 and does nothing', async () => {
    const rig = await rigOf();
    const id = await started(rig, 'approve');
    await until(rig, id, 'Parked');
    const body = { correlation_key: 'approval', payload: { by: 'Ada' } };
    const first = await signal(rig, id, body);
    expect([first.status, first.data]).toEqual([
      200,
      { job_id: id, correlation_key: 'approval', outcome: 'delivered' },
    ]);
    await until(rig, id, 'Completed');
    for (const payload of [{ by: 'Ada' }, { by: 'Eve' }, undefined]) {
      const again = await signal(rig, id, { correlation_key: 'approval', payload });
      expect([again.status, again.data['outcome']]).toEqual([200, 'repeated']);
    }
    expect(await completions(rig, id)).toHaveLength(1);
    expect((await rig.get(`/api/v1/jobs/${id}`)).data['result_json']).toEqual({ by: 'Ada' });
  });

  test('one that is early is kept: 202; the wait that begins later has it at once', async () => {
    const rig = await rigOf();
    const id = await started(rig, 'late');
    await until(rig, id, 'Parked');
    const early = await signal(rig, id, { correlation_key: 'second', payload: 2 });
    expect([early.status, early.data['outcome']]).toEqual([202, 'kept']);
    const repeated = await signal(rig, id, { correlation_key: 'second', payload: 3 });
    expect([repeated.status, repeated.data['outcome']]).toEqual([200, 'repeated']);
    expect(await statusOf(rig, id)).toBe('Parked');
    expect((await signal(rig, id, { correlation_key: 'first' })).status).toBe(200);
    await until(rig, id, 'Completed');
    expect((await rig.get(`/api/v1/jobs/${id}`)).data['result_json']).toBe(2);
  });

  test('one that is late is refused: 409, however often it comes', async () => {
    const rig = await rigOf();
    const id = await started(rig, 'hasty');
    await until(rig, id, 'Waiting');
    rig.app.clock.advance(60_000);
    await until(rig, id, 'Parked');
    for (const path of [`/api/jobs/${id}/signal`, `/api/v1/jobs/${id}/signal`]) {
      const { status, error } = await rig.post(path, { correlation_key: 'first', payload: 1 });
      expect([status, error.code, error.retryable]).toEqual([409, 'WAIT_NOT_OPEN', false]);
    }
    expect((await signal(rig, id, { correlation_key: 'second', payload: 2 })).status).toBe(200);
    await until(rig, id, 'Completed');
    expect((await rig.get(`/api/v1/jobs/${id}`)).data['result_json']).toBe(2);
    expect(await completions(rig, id)).toHaveLength(2);
  });

  test('twenty at once complete the wait once', async () => {
    const rig = await rigOf();
    const id = await started(rig, 'approve');
    await until(rig, id, 'Parked');
    const all = await Promise.all(
      Array.from({ length: 20 }, (_none, n) => signal(rig, id, { correlation_key: 'approval', payload: n })),
    );
    expect(all.every(({ status }) => status === 200)).toBe(true);
    expect(all.filter(({ data }) => data['outcome'] === 'repeated')).toHaveLength(19);
    await until(rig, id, 'Completed');
    expect(await completions(rig, id)).toHaveLength(1);
  });

  test.each([
    [{}],
    [{ payload: 1 }],
    [{ correlation_key: '' }],
    [{ correlation_key: null }],
    [{ correlation_key: 7 }],
    [{ correlation_key: ['approval'] }],
    [{ correlation_key: 'has spaces' }],
    [{ correlation_key: 'line\nbreak' }],
    [{ correlation_key: 'nul\u0000' }],
    [{ correlation_key: 'x'.repeat(501) }],
    [{ correlation_key: 'refund' }],
  ])('a key that is missing, empty, malformed or not declared: 400 INVALID_SIGNAL_KEY (%j)', async (body) => {
    const rig = await rigOf();
    const id = await started(rig, 'narrow');
    await until(rig, id, 'Parked');
    const { status, error } = await signal(rig, id, body);
    expect([status, error.code]).toEqual([400, 'INVALID_SIGNAL_KEY']);
    expect((await rig.app.store.inbox(id)).messages).toEqual([]);
    expect((await signal(rig, id, { correlation_key: 'approval' })).status).toBe(200);
    await until(rig, id, 'Completed');
  });

  test('a new key on a job that has ended: 409; an unknown job or another’s: 404', async () => {
    const rig = await rigOf();
    const id = await started(rig, 'approve');
    await until(rig, id, 'Parked');
    const stranger = await rig.post(
      `/api/jobs/${id}/signal`,
      { correlation_key: 'approval' },
      { key: 'other' },
    );
    expect([stranger.status, stranger.error.code]).toEqual([404, 'JOB_NOT_FOUND']);
    await rig.post(`/api/jobs/${id}/cancel`);
    const { status, error } = await signal(rig, id, { correlation_key: 'approval' });
    expect([status, error.code]).toEqual([409, 'ErrInvalidTransition']);
    const own = await rig.post(`/api/v1/jobs/${id}/signal`, { correlation_key: 'approval' });
    expect([own.status, own.error.code]).toEqual([409, 'WF_STATE_TRANSITION_INVALID']);
    expect((await signal(rig, 'no-such-job', { correlation_key: 'x' })).status).toBe(404);
    expect((await rig.app.store.inbox(id)).messages).toEqual([]);
  });
});
