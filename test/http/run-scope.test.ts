import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { cliOn } from '../cli/in-process.js';
import { ApiRig } from './api-rig.js';

const RUNS = '/api/v1/task-runs';
const greet = task({ name: 'greet' }, () => 1);

async function rigOf(): Promise<ApiRig> {
  const rig = await ApiRig.start({ tasks: [greet] });
  onTestFinished(() => rig.stop());
  return rig;
}

const once = { schedule_type: 'at', scheduled_at: '2026-02-25T12:00:00Z' };
const daily = { schedule_type: 'daily', daily_at: '07:30' };

test.each([['task-runs'], ['runs'], [null]])(
  'RUN-3 the keys of runs are unique among runs alone: others with the scope %s have theirs',
  async (idempotency_scope) => {
    const rig = await rigOf();
    const named = (idempotency_key: string) => ({ idempotency_key, idempotency_scope });
    expect((await rig.post('/api/v1/tasks', { ...once, ...named('once') })).status).toBe(201);
    expect((await rig.post('/api/v1/tasks', { ...daily, ...named('daily') })).status).toBe(201);
    expect((await rig.post('/api/v1/jobs', { job_type: 'greet', ...named('job') })).status).toBe(201);
    for (const key of ['once', 'daily', 'job']) {
      const run = await rig.post(RUNS, { task_id: `task-${key}`, idempotency_key: key });
      expect([run.status, run.data['idempotent_hit'], run.data['task_id']]).toEqual([
        201,
        false,
        `task-${key}`,
      ]);
      const again = await rig.post(RUNS, { task_id: `task-${key}`, idempotency_key: key });
      expect([again.status, again.data['run_id']]).toEqual([200, run.data['run_id']]);
    }
  },
);

test('RUN-3 no caller can write into the scope of runs: scopes with a leading $ are refused at every door', async () => {
  const rig = await rigOf();
  const named = { idempotency_key: 'k', idempotency_scope: '$task-runs' };
  for (const [path, body] of [
    ['/api/v1/tasks', once],
    ['/api/v1/tasks', daily],
    ['/api/v1/jobs', { job_type: 'greet' }],
  ] as const) {
    const { status, error } = await rig.post(path, { ...body, ...named });
    expect([status, error.code, error.details?.['field']]).toEqual([
      400,
      'INVALID_REQUEST',
      'body.idempotency_scope',
    ]);
  }
  const bulk = await rig.post('/api/v1/jobs/bulk', { jobs: [{ job_type: 'greet', ...named }] });
  expect([bulk.status, bulk.error.code]).toEqual([400, 'INVALID_REQUEST']);
  await expect(
    rig.app.app.start(greet, null, { idempotencyKey: 'k', scope: '$task-runs' }),
  ).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { option: 'scope' } });
  const folder = mkdtempSync(join(tmpdir(), 'pawl-scope-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pawl = cliOn(`sqlite:${join(folder, 'pawl.db')}`);
  expect(await pawl('start', 'greet', '--key', 'k', '--scope', '$task-runs')).toMatchObject({
    code: 2,
    err: expect.stringContaining('INVALID_OPTION') as string,
  });
  const counts = await rig.engine.store.counts({ tenantId: null });
  expect(counts.counts).toEqual({});
  expect((await rig.post(RUNS, { task_id: 'import', idempotency_key: 'k' })).status).toBe(201);
});
