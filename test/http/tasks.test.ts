import { describe, expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { advanceUntil, fakeClock } from '../../src/testkit/index.js';
import { ApiRig, type RigOptions } from './api-rig.js';

const ROOT = '/api/v1/tasks';
const CREATED_AT = Date.parse('2026-02-25T11:59:58Z');

/** The source's own request, letter for letter. */
const REQUEST = `{
  "task_id": "task_20260225_0001",
  "schedule_type": "at",
  "scheduled_at": "2026-02-25T12:00:00Z",
  "timeout_ms": 30000,
  "max_retries": 2,
  "idempotency_key": "order_1001",
  "idempotency_scope": "tenant_a",
  "payload": {
    "channel": "dingtalk",
    "request_id": "req-1"
  }
}`;

/** The source's own answer to a hit. Two seconds before its time the task is pending, where the source says ready. */
const HIT = `{
  "idempotent_hit": true,
  "task": {
    "task_id": "task_20260225_0001",
    "schedule_type": "at",
    "state": "pending",
    "attempt": 1,
    "max_retries": 2,
    "timeout_ms": 30000,
    "idempotency_key": "order_1001",
    "last_error_code": null,
    "last_error_reason": null,
    "created_at": "2026-02-25T11:59:58Z",
    "updated_at": "2026-02-25T11:59:58Z",
    "started_at": null,
    "finished_at": null
  }
}`;

const EVENT = `{
  "type": "task_state_changed",
  "source": "gateway.scheduler",
  "session_key": "scheduler:default",
  "event_id": "evt_task_1",
  "payload": {
    "task_id": "task_20260225_0001",
    "from_state": "running",
    "to_state": "failed",
    "occurred_at": "2026-02-25T12:00:30Z",
    "attempt": 3,
    "reason_code": "TASK_RETRY_EXHAUSTED",
    "reason_message": "start_to_close timeout exhausted retries",
    "idempotent_hit": false
  }
}`;

const stuck = task(
  { name: 'default' },
  ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    }),
);

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({ served: true, clock: fakeClock(CREATED_AT), tasks: [stuck], ...options });
  onTestFinished(() => rig.stop());
  return rig;
}

const sent = (change: object): string => JSON.stringify({ ...(JSON.parse(REQUEST) as object), ...change });

describe('scheduled tasks, as the source sends them', () => {
  test('TSK-4 TSK-5 the source’s request creates a task; again, it gets the source’s answer, letter for letter', async () => {
    const rig = await rigOf();
    const first = await rig.post(ROOT, REQUEST);
    expect(first.status).toBe(201);
    expect(first.data).toEqual({ ...(JSON.parse(HIT) as object), idempotent_hit: false });
    const again = await rig.post(ROOT, REQUEST);
    expect(again.status).toBe(200);
    expect(JSON.stringify(again.data, null, 2)).toBe(HIT);
    expect((await rig.get(ROOT)).data['tasks']).toHaveLength(1);
    const shown = await rig.get(`${ROOT}/task_20260225_0001`);
    expect(shown.data).toEqual((JSON.parse(HIT) as { task: object }).task);
  });

  test('TSK-3 TSK-6 the source’s event, with its names in its order', async () => {
    const rig = await rigOf({ work: {} });
    await rig.post(ROOT, REQUEST);
    const state = async () => (await rig.get(`${ROOT}/task_20260225_0001`)).data['state'];
    await advanceUntil(rig.app.clock, async () => (await state()) === 'failed', { atMost: '1h' });
    const events = (await rig.get(`${ROOT}/task_20260225_0001/events`)).data['events'] as unknown[];
    const last = events.at(-1) as { event_id: string; payload: { occurred_at: string } };
    expect(last.payload.occurred_at).toMatch(/^2026-02-25T12:0\d:\d\d(\.\d{3})?Z$/);
    const shown = {
      ...last,
      event_id: 'evt_task_1',
      payload: { ...last.payload, occurred_at: '2026-02-25T12:00:30Z' },
    };
    expect(JSON.stringify(shown, null, 2)).toBe(EVENT);
    const steps = events.map((event) => {
      const { from_state, to_state, attempt, reason_code } = (
        event as typeof last & { payload: Record<string, unknown> }
      ).payload;
      return `${String(from_state)}→${String(to_state)} ${String(attempt)} ${String(reason_code)}`;
    });
    expect(steps).toEqual([
      'pending→ready 1 null',
      'ready→running 1 null',
      'running→ready 1 TASK_TIMEOUT',
      'ready→running 2 null',
      'running→ready 2 TASK_TIMEOUT',
      'ready→running 3 null',
      'running→failed 3 TASK_RETRY_EXHAUSTED',
    ]);
  });

  test('TSK-5 a hit is by task_id, or by scope and key; a null scope equals a null scope', async () => {
    const rig = await rigOf();
    await rig.post(ROOT, REQUEST);
    const hits = [
      sent({ idempotency_key: undefined, idempotency_scope: undefined }),
      sent({ task_id: undefined }),
      sent({ payload: { entirely: 'different' } }),
      sent({ timeout_ms: undefined, max_retries: undefined }),
    ];
    for (const body of hits) {
      const { status, data } = await rig.post(ROOT, body);
      expect([status, data['idempotent_hit'], (data['task'] as { task_id: string }).task_id]).toEqual([
        200,
        true,
        'task_20260225_0001',
      ]);
    }
    const unscoped = sent({ task_id: undefined, idempotency_scope: null });
    expect((await rig.post(ROOT, unscoped)).status).toBe(201);
    expect((await rig.post(ROOT, sent({ task_id: undefined, idempotency_scope: undefined }))).status).toBe(
      200,
    );
    expect(
      (await rig.post(ROOT, sent({ task_id: 'task_2', idempotency_key: 'other' }), { key: 'other' })).status,
    ).toBe(201);
    expect((await rig.get(ROOT)).data['tasks']).toHaveLength(2);
  });

  test('TSK-5 other critical fields are a duplicate that names them, with the task', async () => {
    const rig = await rigOf();
    await rig.post(ROOT, REQUEST);
    const cases: readonly (readonly [object, string[]])[] = [
      [{ scheduled_at: '2026-02-25T12:00:01Z' }, ['scheduled_at']],
      [{ timeout_ms: 1, max_retries: 9 }, ['timeout_ms', 'max_retries']],
    ];
    for (const [change, fields] of cases) {
      const { status, error } = await rig.post(ROOT, sent(change));
      expect([status, error.code, error['conflict_fields']]).toEqual([409, 'TASK_DUPLICATE', fields]);
      expect(error['reason']).toBe(
        `task task_20260225_0001 exists with other values of ${fields.join(', ')}`,
      );
      expect(error['task']).toEqual((JSON.parse(HIT) as { task: object }).task);
    }
    await rig.post(ROOT, sent({ task_id: 'task_2', idempotency_key: 'order_1002' }));
    const crossed = await rig.post(ROOT, sent({ idempotency_key: 'order_1002' }));
    expect(crossed.error['conflict_fields']).toEqual(['idempotency_key']);
    expect(crossed.error['task']).toMatchObject({ task_id: 'task_20260225_0001' });
    expect((await rig.get(ROOT)).data['tasks']).toHaveLength(2);
  });

  test('TSK-5 DEC-13 a task_id, or a key, that was made up for a task finds it, too', async () => {
    const rig = await rigOf();
    const body = { schedule_type: 'at', scheduled_at: '2026-07-01T10:00:00Z', payload: { n: 1 } };
    const taskIn = ({ data }: { data: Record<string, unknown> }) => data['task'] as Record<string, unknown>;
    const first = taskIn(await rig.post('/api/v1/tasks', body));
    for (const name of ['task_id', 'idempotency_key']) {
      const again = await rig.post('/api/v1/tasks', { ...body, [name]: first[name] });
      expect([again.status, taskIn(again)['task_id']]).toEqual([200, first['task_id']]);
      const later = { ...body, scheduled_at: '2026-07-02T10:00:00Z', [name]: first[name] };
      expect((await rig.post('/api/v1/tasks', later)).status).toBe(409);
    }
    expect((await rig.get('/api/v1/tasks')).data['tasks']).toHaveLength(1);
  });

  test('TSK-5 twenty creations at once make one task', async () => {
    const rig = await rigOf();
    const all = await Promise.all(Array.from({ length: 20 }, () => rig.post(ROOT, REQUEST)));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(all.filter(({ status }) => status === 200)).toHaveLength(19);
    expect((await rig.get(ROOT)).data['tasks']).toHaveLength(1);
  });

  test.each([
    [{ schedule_type: 'weekly' }, 'schedule_type'],
    [{ schedule_type: undefined }, 'schedule_type'],
    [{ schedule_type: { $gt: '' } }, 'schedule_type'],
    [{ scheduled_at: undefined }, 'scheduled_at'],
    [{ scheduled_at: '2026-02-25T12:00:00+01:00' }, 'scheduled_at'],
    [{ scheduled_at: '2026-02-25 12:00:00' }, 'scheduled_at'],
    [{ scheduled_at: 1_772_020_800_000 }, 'scheduled_at'],
    [{ scheduled_at: '2026-02-30T12:00:00Z' }, 'scheduled_at'],
    [{ cron: '* * * * *' }, 'cron'],
    [{ schedule_type: 'cron', scheduled_at: undefined }, 'cron'],
    [{ schedule_type: 'cron', scheduled_at: undefined, cron: 'every day' }, 'cron'],
    [
      { schedule_type: 'cron', scheduled_at: undefined, cron: '0 7 * * *', time_zone: 'Mars/Base' },
      'time_zone',
    ],
    [{ schedule_type: 'every', scheduled_at: undefined, every_ms: 0 }, 'every_ms'],
    [{ schedule_type: 'every', scheduled_at: undefined, every_ms: 1 }, 'every_ms'],
    [{ schedule_type: 'every', scheduled_at: undefined, every_ms: Number.MAX_SAFE_INTEGER }, 'every_ms'],
    [{ schedule_type: 'every', scheduled_at: undefined, every_ms: 60_000, overlap: 'sometimes' }, 'overlap'],
    [{ schedule_type: 'daily', scheduled_at: undefined, daily_at: '24:00' }, 'daily_at'],
    [{ schedule_type: 'daily', scheduled_at: undefined, daily_at: '07:30', from: 'garbage' }, 'from'],
    [{ schedule_type: 'cron', scheduled_at: undefined, cron: '2099-01-01T00:00:00' }, 'cron'],
  ])('TSK-4 a bad schedule is refused with the field’s name: %j', async (change, field) => {
    const rig = await rigOf();
    const { status, error } = await rig.post(ROOT, sent(change));
    expect([status, error.code, error.details]).toEqual([400, 'TASK_INVALID_SCHEDULE', { field }]);
    expect((await rig.get(ROOT)).data['tasks']).toEqual([]);
    expect((await rig.get('/api/v1/schedules')).data['schedules']).toEqual([]);
  });

  test('TSK-4 without a job_type the configured default task runs', async () => {
    const named = task({ name: 'fallback' }, () => 'done');
    const rig = await rigOf({ tasks: [named, stuck], defaultTask: 'fallback', work: {} });
    const body = { schedule_type: 'at', scheduled_at: '2026-02-25T12:00:00Z' };
    const { data } = await rig.post(ROOT, body);
    const id = (data['task'] as { task_id: string }).task_id;
    const state = async () => (await rig.get(`${ROOT}/${id}`)).data['state'];
    await advanceUntil(rig.app.clock, async () => (await state()) === 'succeeded', { atMost: '1h' });
    expect((await rig.get(`/api/v1/jobs/${id}`)).data['job_type']).toBe('fallback');
    const listed = await rig.get(`${ROOT}?state=succeeded&job_type=fallback`);
    expect(listed.data['tasks']).toHaveLength(1);
    expect((await rig.get(`${ROOT}?state=running`)).data['tasks']).toEqual([]);
  });

  test.each([
    ['every', { every_ms: 60_000 }, { every_ms: 30_000 }],
    [
      'cron',
      { cron: '0 7 * * *', time_zone: 'Europe/Berlin' },
      { cron: '0 8 * * *', time_zone: 'Europe/Berlin' },
    ],
    ['daily', { daily_at: '07:30', time_zone: 'Asia/Tokyo' }, { daily_at: '07:31', time_zone: 'Asia/Tokyo' }],
  ])(
    'TSK-4 TSK-5 %s: created once, found again, and refused with another timing',
    async (type, when, other) => {
      const rig = await rigOf();
      const asked = (change: object = {}) =>
        rig.post(ROOT, { task_id: 'task_again', schedule_type: type, payload: { n: 1 }, ...when, ...change });
      const first = await asked();
      expect([first.status, first.data['idempotent_hit']]).toEqual([201, false]);
      expect(first.data['schedule']).toMatchObject({
        schedule_id: 'task_again',
        schedule_type: type,
        ...when,
      });
      const again = await asked();
      expect([again.status, again.data['idempotent_hit']]).toEqual([200, true]);
      const { status, error } = await asked(other);
      expect([status, error.code, error['conflict_fields']]).toEqual([409, 'TASK_DUPLICATE', ['schedule']]);
      const listed = (await rig.get('/api/v1/schedules')).data['schedules'];
      expect(listed).toHaveLength(1);
      const byKey = (key: string) => asked({ task_id: undefined, idempotency_key: key });
      expect([(await byKey('k1')).status, (await byKey('k1')).status, (await byKey('k2')).status]).toEqual([
        201, 200, 201,
      ]);
    },
  );

  test('TSK-1 a task that has ended cannot be cancelled', async () => {
    const rig = await rigOf();
    await rig.post(ROOT, REQUEST);
    expect(
      (await rig.post(`${ROOT}/task_20260225_0001/cancel`, { reason: 'not needed' })).data['state'],
    ).toBe('cancelled');
    const { status, error } = await rig.post(`${ROOT}/task_20260225_0001/cancel`);
    expect([status, error.code]).toEqual([409, 'TASK_INVALID_TRANSITION']);
    expect((await rig.get(`${ROOT}/nothing`)).error.code).toBe('TASK_NOT_FOUND');
  });
});
