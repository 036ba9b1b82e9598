import { describe, expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { Cluster, Link } from '../../src/testkit/index.js';
import { ApiRig, type RigOptions } from './api-rig.js';
import { contentsOf } from './store-contents.js';

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({ served: true, ...options });
  onTestFinished(() => rig.stop());
  return rig;
}

async function jobOf(rig: ApiRig): Promise<string> {
  return String((await rig.post('/api/v1/jobs', { job_type: 'drill' })).data['job_id']);
}

async function statusesOf(rig: ApiRig, id: string): Promise<unknown[]> {
  const { data } = await rig.get(`/api/v1/jobs/${id}/events`);
  return (data['events'] as { status: string }[]).map(({ status }) => status);
}

describe('JOB-11 internal endpoints', () => {
  test('run: from queued to success', async () => {
    const rig = await rigOf();
    const id = await jobOf(rig);
    const { status, data } = await rig.drill(id);
    expect(status).toBe(200);
    expect(JSON.stringify(data)).toBe(
      `{"job_id":"${id}","final_status":"succeeded","retry_count":0,"dlq_id":null}`,
    );
    expect(await statusesOf(rig, id)).toEqual(['scheduled', 'queued', 'running', 'succeeded']);
  });

  test('run: from running too, if nobody alive holds it; 409 while a worker does', async () => {
    const cluster = new Cluster();
    onTestFinished(() => cluster.stop());
    const hang = task({ name: 'drill' }, () => new Promise(() => undefined));
    const link = new Link(cluster.store);
    await cluster.join([hang], { lease: '30s' }, link.store);
    const rig = await rigOf({ store: cluster.store, clock: cluster.clock, seed: 9 });
    const id = await jobOf(rig);
    await expect.poll(async () => (await rig.get(`/api/v1/jobs/${id}`)).data['status']).toBe('running');
    const before = await contentsOf(cluster.store);
    for (const query of ['', '?force_fail=true', '?transient_fail=true']) {
      const held = await rig.drill(id, query);
      expect([held.status, held.error.code]).toEqual([409, 'JOB_HELD']);
    }
    expect(await contentsOf(cluster.store)).toEqual(before);
    // Its worker is cut off, and its lease runs out before anyone has noticed.
    link.down = true;
    cluster.clock.advance(31_000);
    const { data } = await rig.drill(id);
    expect(data).toMatchObject({ final_status: 'succeeded', retry_count: 0 });
  });

  test('run: to success even where a job whose worker is gone would be given up', async () => {
    const cluster = new Cluster();
    onTestFinished(() => cluster.stop());
    const hang = task({ name: 'drill', recovery: 'abort' }, () => new Promise(() => undefined));
    const link = new Link(cluster.store);
    await cluster.join([hang], { lease: '30s' }, link.store);
    const rig = await rigOf({ store: cluster.store, clock: cluster.clock, seed: 9, tasks: [hang] });
    const id = await jobOf(rig);
    await expect.poll(async () => (await rig.get(`/api/v1/jobs/${id}`)).data['status']).toBe('running');
    link.down = true;
    cluster.clock.advance(31_000);
    expect((await rig.drill(id)).data).toMatchObject({ final_status: 'succeeded', dlq_id: null });
    expect(await statusesOf(rig, id)).toEqual(['scheduled', 'queued', 'running', 'succeeded']);
  });

  test.each<[string, (rig: ApiRig, id: string) => Promise<{ error: { code?: unknown } }>]>([
    ['run', (rig, id) => rig.drill(id)],
    ['retry', (rig, id) => rig.post(`/api/v1/jobs/${id}/retry`)],
  ])('JOB-12 three refusals of %s in a row are an alert', async (call, refused) => {
    const rig = await rigOf();
    const id = await jobOf(rig);
    if (call === 'run') await rig.drill(id);
    for (let n = 0; n < 3; n++)
      expect((await refused(rig, id)).error.code).toBe('WF_STATE_TRANSITION_INVALID');
    expect((await rig.get('/api/v1/alerts')).data['alerts']).toMatchObject([{ rule: 'transition_refused' }]);
  });

  test('force_fail: straight to the end of the dead-letter path', async () => {
    const rig = await rigOf();
    const id = await jobOf(rig);
    const { data } = await rig.drill(id, '?force_fail=true');
    expect(data).toMatchObject({ job_id: id, final_status: 'failed', retry_count: 0 });
    expect(data['dlq_id']).toEqual(expect.any(String));
    expect((await statusesOf(rig, id)).slice(-4)).toEqual([
      'running',
      'dlq_pending',
      'dlq_recorded',
      'failed',
    ]);
    const item = await rig.get(`/api/v1/dlq/${String(data['dlq_id'])}`);
    expect(item.data).toMatchObject({ job_id: id, status: 'open', error_code: 'TASK_EXECUTION_FAILED' });
  });

  test('transient_fail: three retries without waiting for their time, and the fourth call goes to the end', async () => {
    const rig = await rigOf();
    const id = await jobOf(rig);
    for (const retry_count of [1, 2, 3]) {
      const { data } = await rig.drill(id, '?transient_fail=true');
      expect(data).toEqual({ job_id: id, final_status: 'retrying', retry_count, dlq_id: null });
      expect((await rig.get(`/api/v1/jobs/${id}`)).data['next_retry_at']).not.toBeNull();
    }
    const { data } = await rig.drill(id, '?transient_fail=true');
    expect(data).toEqual({
      job_id: id,
      final_status: 'failed',
      retry_count: 3,
      dlq_id: expect.any(String) as string,
    });
    expect((await statusesOf(rig, id)).slice(-4)).toEqual([
      'running',
      'dlq_pending',
      'dlq_recorded',
      'failed',
    ]);
  });

  test('transient failures may be followed by success', async () => {
    const rig = await rigOf();
    const id = await jobOf(rig);
    await rig.drill(id, '?transient_fail=true');
    expect((await rig.drill(id)).data).toMatchObject({ final_status: 'succeeded', retry_count: 1 });
  });

  test('they take the header and the admin role: 403 otherwise', async () => {
    const rig = await rigOf();
    const id = await jobOf(rig);
    const before = await contentsOf(rig.app.store);
    for (const headers of [
      {},
      { 'x-internal-debug': 'false' },
      { 'x-internal-debug': 'TRUE' },
      { 'x-internal-debug': '1' },
    ]) {
      const { status, error } = await rig.drill(id, '', { headers });
      expect([status, error.code]).toEqual([403, 'FORBIDDEN']);
    }
    for (const key of ['operator', 'viewer']) expect((await rig.drill(id, '', { key })).status).toBe(403);
    expect((await rig.drill(id, '', { key: 'otherAdmin' })).status).toBe(404);
    expect((await rig.drill(id, '?force_fail=true&transient_fail=true')).status).toBe(400);
    expect((await rig.drill(id, '?force_fail=yes')).status).toBe(400);
    expect(await contentsOf(rig.app.store)).toEqual(before);
  });

  test('JOB-3 DEC-7 nothing leaves a terminal state: 409 WF_STATE_TRANSITION_INVALID, and nothing changes', async () => {
    const rig = await rigOf();
    const [succeeded, failed, cancelled] = [await jobOf(rig), await jobOf(rig), await jobOf(rig)];
    await rig.drill(succeeded);
    await rig.drill(failed, '?force_fail=true');
    await rig.post(`/api/v1/jobs/${cancelled}/cancel`);
    const before = await contentsOf(rig.app.store);
    for (const id of [succeeded, failed, cancelled]) {
      for (const query of ['', '?force_fail=true', '?transient_fail=true']) {
        const { status, error } = await rig.drill(id, query);
        expect([status, error.code, error['class']]).toEqual([
          409,
          'WF_STATE_TRANSITION_INVALID',
          'business_rule',
        ]);
      }
      const { status, error } = await rig.post(`/api/v1/jobs/${id}/cancel`);
      expect([status, error.code]).toEqual([409, 'WF_STATE_TRANSITION_INVALID']);
      const guarantee = await rig.post(`/api/jobs/${id}/cancel`);
      expect([guarantee.status, guarantee.error.code]).toEqual([409, 'ErrInvalidTransition']);
      const run = await rig.post(`/api/v1/runs/${id}/cancel`);
      expect([run.status, run.error.code]).toEqual([409, 'RUN_STATE_INVALID_TRANSITION']);
      const taskRun = await rig.post(`/api/v1/task-runs/${id}/cancel`);
      expect([taskRun.status, taskRun.error.code]).toEqual([409, 'RUN_INVALID_TRANSITION']);
    }
    expect(await contentsOf(rig.app.store)).toEqual(before);
  });
});
