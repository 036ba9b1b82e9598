import { expect, onTestFinished, test } from 'vitest';
import { ApiRig } from './api-rig.js';

const ROOT = '/api/v1/tasks';

async function rigOf(): Promise<ApiRig> {
  const rig = await ApiRig.start();
  onTestFinished(() => rig.stop());
  return rig;
}

test.each([
  ['id', { task_id: 'task_both' }],
  ['key', { idempotency_key: 'both', idempotency_scope: 'shop' }],
])('TSK-5 by its %s, a task that is due once and one that recurs are one task', async (_by, known) => {
  const once = { schedule_type: 'at', scheduled_at: '2026-02-25T12:00:00Z', ...known };
  const daily = { schedule_type: 'daily', daily_at: '07:30', ...known };
  for (const [first, second] of [
    [once, daily],
    [daily, once],
  ]) {
    const rig = await rigOf();
    expect((await rig.post(ROOT, first)).status).toBe(201);
    const { status, error } = await rig.post(ROOT, second);
    expect([status, error.code, error['conflict_fields']]).toEqual([
      409,
      'TASK_DUPLICATE',
      ['schedule_type'],
    ]);
    expect((await rig.post(ROOT, first)).data['idempotent_hit']).toBe(true);
  }
});

test('TSK-7 a schedule is paused, and goes on, by being put as such', async () => {
  const rig = await rigOf();
  const put = async (more: object) =>
    (
      await rig.call('PUT', '/api/v1/schedules/nightly', {
        body: { job_type: 'w', schedule_type: 'daily', daily_at: '02:00', ...more },
      })
    ).data['paused'];
  expect([await put({}), await put({ paused: true }), await put({}), await put({ paused: false })]).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
