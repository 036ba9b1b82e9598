import { describe, expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { ApiRig, type Reply, type RigOptions } from './api-rig.js';

const ROOT = '/api/v1/task-runs';
const NINE = [
  'run_id',
  'task_id',
  'previous_status',
  'status',
  'attempt',
  'idempotency_key',
  'next_retry_at',
  'error_code',
  'actor',
];

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({ served: true, ...options });
  onTestFinished(() => rig.stop());
  return rig;
}

const idOf = ({ data }: Reply): string => String(data['run_id']);
type Event = { trace_id: string; payload: Record<string, unknown> };
const eventsOf = async (rig: ApiRig, id: string) =>
  (await rig.get(`${ROOT}/${id}/events`)).data['events'] as Event[];

describe('runs of a task', () => {
  test('RUN-2 at most one live run: another with a new key is refused while one is live', async () => {
    const rig = await rigOf();
    const first = await rig.post(ROOT, { task_id: 'import', idempotency_key: 'k1' });
    expect([first.status, first.data['attempt'], first.data['run_status']]).toEqual([201, 1, 'queued']);
    const second = await rig.post(ROOT, { task_id: 'import', idempotency_key: 'k2' });
    expect([second.status, second.error.code]).toEqual([409, 'RUN_ACTIVE']);
    expect(second.error.details).toEqual({ job_id: idOf(first) });
    expect((await rig.post(ROOT, { task_id: 'import' })).error.code).toBe('RUN_ACTIVE');
    expect((await rig.post(ROOT, { task_id: 'export' })).status).toBe(201);
    expect((await rig.post(ROOT, { task_id: 'import' }, { key: 'other' })).status).toBe(201);
    expect((await rig.get(ROOT)).data['runs']).toHaveLength(2);
  });

  test('RUN-2 attempts are numbered over all runs of a task, each once', async () => {
    const rig = await rigOf();
    const first = await rig.post(ROOT, { task_id: 'import', max_retries: 3 });
    await rig.drill(idOf(first), '?transient_fail=true');
    await rig.drill(idOf(first), '?transient_fail=true');
    await rig.drill(idOf(first), '?force_fail=true');
    const second = await rig.post(ROOT, { task_id: 'import' });
    expect([second.status, second.data['attempt']]).toEqual([201, 4]);
    await rig.drill(idOf(second), '?transient_fail=true');
    await rig.drill(idOf(second));
    // One that is cancelled before anyone claims it has made no attempt.
    const third = await rig.post(ROOT, { task_id: 'import' });
    expect(third.data['attempt']).toBe(6);
    await rig.post(`${ROOT}/${idOf(third)}/cancel`, {});
    const fourth = await rig.post(ROOT, { task_id: 'import' });
    expect(fourth.data['attempt']).toBe(6);
    await rig.drill(idOf(fourth));
    const attempts: unknown[] = [];
    for (const run of [first, second, third, fourth]) {
      const { data } = await rig.get(`${ROOT}/${idOf(run)}/attempts`);
      for (const { task_id, attempt } of data['attempts'] as Record<string, unknown>[]) {
        expect(task_id).toBe('import');
        attempts.push(attempt);
      }
    }
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6]);
    const shown = (await eventsOf(rig, idOf(second))).map(({ payload }) => payload['attempt']);
    expect(shown).toEqual([4, 4, 4, 5, 5]);
  });

  test('RUN-2 twenty creations at once, each with its own key: one run', async () => {
    const rig = await rigOf();
    for (const round of [1, 2, 3]) {
      const all = await Promise.all(
        Array.from({ length: 20 }, (_none, n) =>
          rig.post(ROOT, { task_id: 'import', idempotency_key: `${round}-${n}` }),
        ),
      );
      const made = all.filter(({ status }) => status === 201);
      expect(made).toHaveLength(1);
      expect(all.filter(({ error }) => error.code === 'RUN_ACTIVE')).toHaveLength(19);
      expect((await rig.get(ROOT)).data['runs']).toHaveLength(round);
      expect(made[0]?.data['attempt']).toBe(round);
      await rig.drill(idOf(made[0] as Reply));
    }
  });

  test('RUN-3 a key is a tenant’s once, for all its tasks: it finds its run, and another task is refused', async () => {
    const rig = await rigOf();
    const first = await rig.post(ROOT, { task_id: 'import', idempotency_key: 'k' });
    const again = await rig.post(ROOT, { task_id: 'import', idempotency_key: 'k', payload: { more: 1 } });
    expect([again.status, again.data['idempotent_hit'], idOf(again)]).toEqual([200, true, idOf(first)]);
    const other = await rig.post(ROOT, { task_id: 'export', idempotency_key: 'k' });
    expect([other.status, other.error.code]).toEqual([409, 'RUN_DUPLICATE']);
    expect(other.error['conflict_fields']).toEqual(['task_id']);
    expect((await rig.post(ROOT, { task_id: 'export', idempotency_key: '' })).status).toBe(400);
    // Keys of jobs and tasks are another scope, and another tenant's are its own.
    expect((await rig.post('/api/v1/jobs', { job_type: 'x', idempotency_key: 'k' })).status).toBe(201);
    expect((await rig.post(ROOT, { task_id: 'export', idempotency_key: 'k' }, { key: 'other' })).status).toBe(
      201,
    );
    const all = await Promise.all(
      Array.from({ length: 20 }, () => rig.post(ROOT, { task_id: 'sync', idempotency_key: 'at-once' })),
    );
    expect(new Set(all.map(idOf)).size).toBe(1);
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  test('RUN-3 a key that was made up for a run finds it, too', async () => {
    const rig = await rigOf();
    const first = await rig.post(ROOT, { task_id: 'import' });
    const key = first.data['idempotency_key'];
    const again = await rig.post(ROOT, { task_id: 'import', idempotency_key: key });
    expect([again.status, idOf(again)]).toEqual([200, idOf(first)]);
    const elsewhere = await rig.post(ROOT, { task_id: 'export', idempotency_key: key });
    expect([elsewhere.status, elsewhere.error.code]).toEqual([409, 'RUN_DUPLICATE']);
  });

  test('RUN-5 RUN-7 every change of status has its event, with exactly the nine fields', async () => {
    const rig = await rigOf();
    const { data } = await rig.post(ROOT, { task_id: 'import', idempotency_key: 'k' });
    const id = String(data['run_id']);
    expect(data['trace_id']).toMatch(new RegExp(`^trace-run-${id}-[0-9a-f-]{36}$`));
    await rig.drill(id, '?transient_fail=true');
    const waiting = await rig.get(`${ROOT}/${id}`);
    expect(waiting.data).toMatchObject({ run_status: 'retry_scheduled', attempt: 2 });
    expect(waiting.data['next_retry_at']).toMatch(/Z$/);
    await rig.drill(id);
    const events = await eventsOf(rig, id);
    for (const { payload, trace_id } of events) {
      expect(Object.keys(payload)).toEqual(NINE);
      expect([trace_id, payload['run_id'], payload['task_id'], payload['idempotency_key']]).toEqual([
        data['trace_id'],
        id,
        'import',
        'k',
      ]);
      expect(payload['next_retry_at'] !== null).toBe(payload['status'] === 'retry_scheduled');
    }
    expect(
      events.map(({ payload: { previous_status, status, attempt, error_code } }) => [
        previous_status,
        status,
        attempt,
        error_code,
      ]),
    ).toEqual([
      [null, 'queued', 1, null],
      ['queued', 'running', 1, null],
      ['running', 'retry_scheduled', 1, 'TASK_EXECUTION_FAILED'],
      ['retry_scheduled', 'running', 2, null],
      ['running', 'succeeded', 2, null],
    ]);
    expect(events[0]?.payload['actor']).toMatch(/^operator:[0-9A-Z]{26}$/);
    expect((await rig.get(`${ROOT}/${id}`)).data['run_status']).toBe(events.at(-1)?.payload['status']);
  });

  test('RUN-10 a finished run that is asked for again is returned untouched, and its handler ran once', async () => {
    let ran = 0;
    const count = task({ name: 'count' }, () => {
      ran += 1;
    });
    const rig = await rigOf({ tasks: [count], work: {} });
    const asked = { task_id: 'once', job_type: 'count', idempotency_key: 'k' };
    const id = idOf(await rig.post(ROOT, asked));
    const over = async () => (await rig.get(`${ROOT}/${id}`)).data['run_status'] === 'succeeded';
    await expect.poll(over).toBe(true);
    const before = await rig.get(`${ROOT}/${id}`);
    const told = await eventsOf(rig, id);
    const again = await rig.post(ROOT, asked);
    expect(again.status).toBe(200);
    expect(again.data).toEqual({ ...before.data, idempotent_hit: true });
    expect(told.map(({ payload }) => payload['status'])).toEqual(['queued', 'running', 'succeeded']);
    expect([ran, await eventsOf(rig, id)]).toEqual([1, told]);
  });

  test('DEC-12 a run may bring its own id, and lists show runs by state, page by page', async () => {
    const rig = await rigOf();
    const given = await rig.post(ROOT, { task_id: 't-0', run_id: 'run:2026.1_a-b' });
    expect([given.status, idOf(given)]).toEqual([201, 'run:2026.1_a-b']);
    const taken = await rig.post(ROOT, { task_id: 't-x', run_id: 'run:2026.1_a-b' });
    expect([taken.status, taken.error.code]).toEqual([409, 'RUN_EXISTS']);
    for (let n = 1; n < 7; n++) await rig.post(ROOT, { task_id: `t-${n}` });
    await rig.drill('run:2026.1_a-b');
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const { data } = await rig.get(`${ROOT}?limit=2&run_status=queued${cursor}`);
      seen.push(...(data['runs'] as { task_id: string }[]).map(({ task_id }) => task_id));
      const next = data['next_cursor'] as string | null;
      cursor = next === null ? '' : `&cursor=${next}`;
    } while (cursor !== '');
    expect(seen).toEqual(['t-6', 't-5', 't-4', 't-3', 't-2', 't-1']);
    expect((await rig.get(`${ROOT}?run_status=succeeded`)).data['runs']).toHaveLength(1);
    expect((await rig.get(`${ROOT}?run_status=done`)).status).toBe(400);
    expect((await rig.get(`${ROOT}/nothing-here`)).error.code).toBe('RUN_NOT_FOUND');
  });
});
