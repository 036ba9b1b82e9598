import { describe, expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { ApiRig, type RigOptions } from './api-rig.js';
import { contentsOf } from './store-contents.js';

const ROOT = '/api/v1/jobs';
const WHY = { reason: 'never comes to its end' };

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({ served: true, ...options });
  onTestFinished(() => rig.stop());
  return rig;
}

async function jobOf(rig: ApiRig, more: object = {}): Promise<string> {
  return String((await rig.post(ROOT, { job_type: 'drill', ...more })).data['job_id']);
}

async function retrying(rig: ApiRig): Promise<string> {
  const id = await jobOf(rig);
  await rig.drill(id, '?transient_fail=true');
  return id;
}

describe('POST /api/v1/jobs/:job_id/abandon', () => {
  test('JOB-7 DEC-4 the job fails, its dead letter is open, and says in the log who did it and why', async () => {
    const rig = await rigOf();
    const id = await retrying(rig);
    const { status, data } = await rig.post(`${ROOT}/${id}/abandon`, WHY);
    expect([status, data['job_id'], data['status'], data['error_code']]).toEqual([
      200,
      id,
      'failed',
      'ABANDONED',
    ]);
    const item = await rig.get(`/api/v1/dlq/${String(data['dlq_id'])}`);
    expect(item.data).toMatchObject({ job_id: id, status: 'open', error_code: 'ABANDONED' });
    const events = (await rig.get(`${ROOT}/${id}/events`)).data['events'] as Record<string, unknown>[];
    expect(events.slice(-3).map(({ status: state }) => state)).toEqual([
      'dlq_pending',
      'dlq_recorded',
      'failed',
    ]);
    expect(JSON.stringify(events.at(-3))).toContain(WHY.reason);
    expect(JSON.stringify(events.at(-3))).toContain('operator:');
    const requeued = await rig.post(`/api/v1/dlq/${String(data['dlq_id'])}/requeue`);
    expect(requeued.status).toBe(201);
  });

  test('JOB-7 a handler that runs the job is aborted', async () => {
    const signals: AbortSignal[] = [];
    const stuck = task({ name: 'drill' }, ({ signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    const rig = await rigOf({ tasks: [stuck], work: { drain: 0 } });
    const id = await jobOf(rig);
    await expect.poll(() => signals.length).toBe(1);
    expect((await rig.post(`${ROOT}/${id}/abandon`, WHY)).data['status']).toBe('failed');
    await expect.poll(() => signals[0]?.aborted).toBe(true);
  });

  test('JOB-3 DEC-7 from any other state it is 409 WF_STATE_TRANSITION_INVALID, and nothing changes', async () => {
    const rig = await rigOf();
    const [queued, succeeded, failed, cancelled] = [
      await jobOf(rig),
      await jobOf(rig),
      await jobOf(rig),
      await jobOf(rig),
    ];
    const scheduled = await jobOf(rig, { delay_ms: 60_000 });
    await rig.drill(succeeded);
    await rig.drill(failed, '?force_fail=true');
    await rig.post(`${ROOT}/${cancelled}/cancel`);
    const { jobs } = (await contentsOf(rig.app.store)) as { jobs: unknown };
    for (const id of [queued, scheduled, succeeded, failed, cancelled]) {
      const { status, error } = await rig.post(`${ROOT}/${id}/abandon`, WHY);
      expect([status, error.code, error['class']]).toEqual([
        409,
        'WF_STATE_TRANSITION_INVALID',
        'business_rule',
      ]);
    }
    expect(((await contentsOf(rig.app.store)) as { jobs: unknown }).jobs).toEqual(jobs);
    expect((await rig.get('/api/v1/alerts')).data['alerts']).toMatchObject([{ rule: 'transition_refused' }]);
  });

  test('JOB-13 JOB-14 it takes a reason and an operator of the job’s tenant, else nothing changes', async () => {
    const rig = await rigOf();
    const id = await retrying(rig);
    const before = await contentsOf(rig.app.store);
    for (const body of [undefined, {}, { reason: null }, { reason: '' }, { reason: '   ' }]) {
      const { status, error } = await rig.post(`${ROOT}/${id}/abandon`, body);
      expect([status, error.code]).toEqual([400, 'INVALID_REQUEST']);
      expect(error['message']).toContain('reason');
    }
    const long = await rig.post(`${ROOT}/${id}/abandon`, { reason: 'x'.repeat(1_001) });
    expect([long.status, long.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect((await rig.post(`${ROOT}/${id}/abandon`, WHY, { key: 'viewer' })).status).toBe(403);
    expect((await rig.post(`${ROOT}/${id}/abandon`, WHY, { key: 'otherAdmin' })).status).toBe(404);
    expect(await contentsOf(rig.app.store)).toEqual(before);
  });
});
