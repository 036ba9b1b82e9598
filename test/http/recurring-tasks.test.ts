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

const KEY = { idempotency_key: 'k', idempotency_scope: 's' };
const every = { schedule_type: 'every', every_ms: 60_000 };
const once = { schedule_type: 'at', scheduled_at: '2026-02-25T12:00:00Z' };

test('TSK-5 one scope and key make one task that recurs, whatever ids come with them', async () => {
  const rig = await rigOf();
  const first = await rig.post(ROOT, { ...every, ...KEY, task_id: 'task_A' });
  expect(first.status).toBe(201);
  for (const named of [{ task_id: 'task_A' }, {}, { task_id: 'task_B' }]) {
    const { status, data } = await rig.post(ROOT, { ...every, ...KEY, ...named });
    expect([status, data]).toEqual([200, { ...first.data, idempotent_hit: true }]);
  }
  for (const [asked, fields] of [
    [{ ...every, every_ms: 1_000, task_id: 'task_B' }, ['schedule']],
    [{ schedule_type: 'daily', daily_at: '07:30' }, ['schedule_type']],
    [{ ...once, task_id: 'task_C' }, ['schedule_type']],
    [once, ['schedule_type']],
  ] as const) {
    const { status, error } = await rig.post(ROOT, { ...asked, ...KEY });
    expect([status, error.code, error['conflict_fields']]).toEqual([409, 'TASK_DUPLICATE', fields]);
    expect(error['task']).toMatchObject({ schedule_id: 'task_A' });
  }
  // Another scope, none, and another tenant's are other keys.
  const other = { ...every, idempotency_key: 'k' };
  expect((await rig.post(ROOT, { ...other, idempotency_scope: 'other' })).status).toBe(201);
  expect((await rig.post(ROOT, other)).status).toBe(201);
  expect((await rig.post(ROOT, { ...other, idempotency_scope: null })).status).toBe(200);
  expect((await rig.post(ROOT, { ...every, ...KEY }, { key: 'other' })).status).toBe(201);
  expect((await rig.get('/api/v1/schedules')).data['schedules']).toHaveLength(3);
  expect((await rig.get(ROOT)).data['tasks']).toEqual([]);
});

test.each([
  ['recurring tasks', every, every],
  ['a recurring task and one that is due once', every, once],
  ['a task that is due once and a recurring one', once, every],
])(
  'TSK-5 an id and a key that lead to two tasks, %s, are refused for the id’s task',
  async (_, byId, byKey) => {
    for (const again of [every, once]) {
      const rig = await rigOf();
      expect((await rig.post(ROOT, { ...byId, task_id: 'task_A' })).status).toBe(201);
      expect((await rig.post(ROOT, { ...byKey, ...KEY, task_id: 'task_B' })).status).toBe(201);
      const { status, error } = await rig.post(ROOT, { ...again, ...KEY, task_id: 'task_A' });
      expect([status, error.code, error['conflict_fields']]).toEqual([
        409,
        'TASK_DUPLICATE',
        ['idempotency_key'],
      ]);
      const idOf = byId === every ? { schedule_id: 'task_A' } : { task_id: 'task_A' };
      expect(error['task']).toMatchObject(idOf);
    }
  },
);

test('TSK-5 twenty at once with one key, each with an id of its own: one task', async () => {
  const rig = await rigOf();
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, n) => rig.post(ROOT, { ...every, ...KEY, task_id: `task_${n}` })),
  );
  expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(all.filter(({ status }) => status === 200)).toHaveLength(19);
  expect((await rig.get('/api/v1/schedules')).data['schedules']).toHaveLength(1);
});

test('TSK-5 the key of a recurring task that was deleted is free, even if its id is taken again', async () => {
  const rig = await rigOf();
  await rig.post(ROOT, { ...every, ...KEY, task_id: 'task_A' });
  await rig.call('DELETE', '/api/v1/schedules/task_A');
  expect((await rig.post(ROOT, { ...every, task_id: 'task_A' })).status).toBe(201);
  const second = await rig.post(ROOT, { ...every, ...KEY, task_id: 'task_B' });
  expect(second.status).toBe(201);
  const again = await rig.post(ROOT, { ...every, ...KEY });
  expect([again.status, again.data]).toEqual([200, { ...second.data, idempotent_hit: true }]);
  await rig.call('DELETE', '/api/v1/schedules/task_B');
  expect((await rig.post(ROOT, { ...once, ...KEY, task_id: 'task_C' })).status).toBe(201);
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

test('TSK-4 schedules are listed page by page', async () => {
  const rig = await rigOf();
  const ids = ['a', 'b', 'c', 'd', 'e'];
  for (const id of ids.toReversed())
    await rig.call('PUT', `/api/v1/schedules/${id}`, { body: { ...every, job_type: 'work' } });
  const seen: unknown[] = [];
  for (let cursor = ''; ;) {
    const { data } = await rig.get(`/api/v1/schedules?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    const { schedules, next_cursor } = data as { schedules: { schedule_id: string }[]; next_cursor?: string };
    expect(schedules.length).toBeLessThanOrEqual(2);
    seen.push(...schedules.map(({ schedule_id }) => schedule_id));
    if (next_cursor === null || next_cursor === undefined) break;
    cursor = next_cursor;
  }
  expect(seen).toEqual(ids);
});

test.each([
  ['every_ms', { schedule_type: 'every', every_ms: Number.MAX_SAFE_INTEGER }],
  ['every_ms', { schedule_type: 'every', every_ms: 8.64e15 }],
  ['from', { schedule_type: 'at', scheduled_at: '2027-01-31T08:00:00Z', from: '2027-01-31T08:00:00Z' }],
  ['cron', { schedule_type: 'cron', cron: '2027-01-31T08:00:00Z' }],
])('TSK-4 a bad %s is refused when a schedule is put, and nothing is stored: %j', async (field, when) => {
  const rig = await rigOf();
  const put = await rig.call('PUT', '/api/v1/schedules/far', { body: { job_type: 'w', ...when } });
  expect([put.status, put.error.code, put.error.details]).toEqual([400, 'TASK_INVALID_SCHEDULE', { field }]);
  const { status, data } = await rig.get('/api/v1/schedules');
  expect([status, data['schedules']]).toEqual([200, []]);
});
