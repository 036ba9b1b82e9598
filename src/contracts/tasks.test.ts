import { describe, expect, test } from 'vitest';
import { DEFAULT_RETRY, TIMEOUT_FAILURE, type Event } from '../kernel/index.js';
import {
  aFatalFailure,
  claimedBy,
  created,
  deadLettered,
  event,
  given,
  PASTS,
  scheduled,
  T0,
  historyOf,
} from '../testkit/index.js';
import { idempotentHit, taskDuplicate, taskEvents, tasks, taskView } from './index.js';

const payloads = (...commits: Parameters<typeof historyOf>) =>
  taskEvents(historyOf(...commits)).map(({ payload }) => payload);
const running = [created(), claimedBy('worker-a')] as const;

test('TSK-1 the machine is the source’s', () => {
  expect(tasks.machine.edges.map(({ from, to }) => `${from}→${to}`)).toEqual([
    'null→pending',
    'pending→ready',
    'ready→running',
    'running→succeeded',
    'running→failed',
    'running→ready',
    'pending→cancelled',
    'ready→cancelled',
    'running→cancelled',
  ]);
});

describe('TSK-6 task_state_changed', () => {
  test('TSK-6 the source’s own example, field by field', () => {
    const example = [
      created({ taskId: 'task_20260225_0001', retry: { ...DEFAULT_RETRY, maxRetries: 2 } }),
      claimedBy('worker-a', 1),
      event('attempt.failed', { retryCount: 1, failure: TIMEOUT_FAILURE }),
      claimedBy('worker-a', 2),
      event('attempt.failed', { retryCount: 2, failure: TIMEOUT_FAILURE }),
      claimedBy('worker-a', 3),
      [
        event('dlq.entered', { at: T0 + 30_000, failure: TIMEOUT_FAILURE }),
        event('dlq.recorded', { at: T0 + 30_000 }),
        event('job.failed', { at: T0 + 30_000 }),
      ],
    ] as const;
    expect(taskEvents(historyOf(...example)).at(-1)).toEqual({
      type: 'task_state_changed',
      source: 'gateway.scheduler',
      session_key: 'scheduler:default',
      event_id: 'evt_job_00000001_7_2',
      payload: {
        task_id: 'task_20260225_0001',
        from_state: 'running',
        to_state: 'failed',
        occurred_at: '2026-02-25T12:00:30Z',
        attempt: 3,
        reason_code: 'TASK_RETRY_EXHAUSTED',
        reason_message: 'start_to_close timeout exhausted retries',
        idempotent_hit: false,
      },
    });
  });

  test('DEC-11 creation is no event; a task that is due at once begins with pending → ready', () => {
    expect(payloads(created())).toMatchObject([
      { from_state: 'pending', to_state: 'ready', attempt: 1, reason_code: null },
    ]);
    expect(payloads(scheduled())).toEqual([]);
  });

  test('TSK-3 a retry carries the underlying code and the attempt that ended', () => {
    expect(payloads(...running, event('attempt.failed', { failure: TIMEOUT_FAILURE })).at(-1)).toMatchObject({
      from_state: 'running',
      to_state: 'ready',
      attempt: 1,
      reason_code: 'TASK_TIMEOUT',
      reason_message: 'start_to_close timeout',
    });
  });

  test('TSK-3 retries that ran out say TASK_RETRY_EXHAUSTED, a fatal error says its own', () => {
    expect(payloads(...running, deadLettered()).at(-1)).toMatchObject({
      reason_code: 'TASK_RETRY_EXHAUSTED',
      reason_message: 'boom exhausted retries',
    });
    expect(
      payloads(...running, deadLettered({ reason: 'non_retryable', failure: aFatalFailure })).at(-1),
    ).toMatchObject({
      reason_code: 'CARD_DECLINED',
      reason_message: 'no',
    });
  });

  test('a wait is no event, and the end of one neither', () => {
    expect(
      payloads(...running, event('wait.begun'), event('wait.completed'), claimedBy('worker-b')),
    ).toHaveLength(2);
  });
});

describe('TSK-5 answers', () => {
  const { job } = given(created({ timeoutMs: 30_000, retry: { ...DEFAULT_RETRY, maxRetries: 2 } }));
  if (!job) throw new Error('no job');

  test('TSK-5 a hit shows the task with exactly thirteen fields', () => {
    expect(idempotentHit(job)).toEqual({
      idempotent_hit: true,
      task: {
        task_id: 'task_0001',
        schedule_type: 'at',
        state: 'ready',
        attempt: 1,
        max_retries: 2,
        timeout_ms: 30_000,
        idempotency_key: 'order_1001',
        last_error_code: null,
        last_error_reason: null,
        created_at: '2026-02-25T12:00:00Z',
        updated_at: '2026-02-25T12:00:00Z',
        started_at: null,
        finished_at: null,
      },
    });
  });

  test('TSK-5 a duplicate names the fields that conflict', () => {
    expect(taskDuplicate(job, ['timeoutMs', 'idempotencyKey'])).toEqual({
      code: 'TASK_DUPLICATE',
      reason: 'task task_0001 exists with other values of timeout_ms, idempotency_key',
      conflict_fields: ['timeout_ms', 'idempotency_key'],
      task: taskView(job),
    });
  });

  test('TSK-3 the task remembers its last error', () => {
    const view = (past: readonly Event[]) => {
      const last = given(past).job;
      return last && taskView(last);
    };
    expect(view(PASTS.retrying)).toMatchObject({
      state: 'ready',
      last_error_code: 'TASK_EXECUTION_FAILED',
      last_error_reason: 'boom',
    });
    expect(view(PASTS.failed)).toMatchObject({ state: 'failed', last_error_code: 'TASK_RETRY_EXHAUSTED' });
    expect(view(PASTS.succeeded)).toMatchObject({ last_error_code: null, last_error_reason: null });
  });

  test('TSK-2 attempt counts from 1, max_retries counts extra retries', () => {
    const attempts = [
      created({ retry: { ...DEFAULT_RETRY, maxRetries: 1 } }),
      claimedBy('worker-a'),
      event('attempt.failed'),
      claimedBy('worker-b'),
    ] as const;
    expect(payloads(...attempts).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 2]);
  });
});
