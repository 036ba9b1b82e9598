import { describe, expect, test } from 'vitest';
import {
  claimedBy,
  created,
  deadLettered,
  event,
  given,
  interrupted,
  PASTS,
  scheduled,
  T0,
  historyOf,
} from '../testkit/index.js';
import { runAttempts, runEvents, runView, taskRuns } from './index.js';

const running = [created(), claimedBy('worker-a')] as const;

test('RUN-1 the machine is the source’s, edge by edge', () => {
  expect(
    taskRuns.machine.edges.map(({ from, to, trigger }) => `${from}→${to} ${trigger ?? ''}`.trim()),
  ).toEqual([
    'null→queued',
    'queued→running worker_claim',
    'queued→cancelled cancel_command',
    'running→succeeded completed',
    'running→failed non_retryable_error',
    'running→retry_scheduled retryable_error',
    'running→interrupted process_restart',
    'running→cancelled cancel_command',
    'retry_scheduled→running retry_due',
    'retry_scheduled→cancelled cancel_command',
    'interrupted→running recovery_resume',
    'interrupted→failed recovery_abort',
    'interrupted→cancelled cancel_command',
  ]);
});

describe('RUN-5 run.status.changed', () => {
  test('RUN-5 exactly nine fields, with the trace on the envelope', () => {
    expect(runEvents(historyOf(...running))).toEqual([
      {
        type: 'run.status.changed',
        event_id: 'evt_job_00000001_1_0',
        trace_id: 'trace-1',
        occurred_at: '2026-02-25T12:00:00Z',
        payload: {
          run_id: 'job_00000001',
          task_id: 'task_0001',
          previous_status: null,
          status: 'queued',
          attempt: 1,
          idempotency_key: 'order_1001',
          next_retry_at: null,
          error_code: null,
          actor: 'client',
        },
      },
      expect.objectContaining({
        event_id: 'evt_job_00000001_2_0',
        payload: expect.objectContaining({
          previous_status: 'queued',
          status: 'running',
          actor: 'worker:worker-a',
        }) as unknown,
      }),
    ]);
  });

  const payloads = (...commits: Parameters<typeof historyOf>) =>
    runEvents(historyOf(...commits)).map(({ payload }) => payload);

  test('DEC-11 when leaving running, attempt is the one that ended; afterwards the current one', () => {
    const seen = payloads(...running, event('attempt.failed'), claimedBy('worker-b'));
    expect(seen.slice(-2)).toMatchObject([
      {
        status: 'retry_scheduled',
        attempt: 1,
        next_retry_at: '2026-02-25T12:00:01Z',
        error_code: 'TASK_EXECUTION_FAILED',
      },
      { status: 'running', attempt: 2, next_retry_at: null, error_code: null },
    ]);
  });

  test('an interruption says PROCESS_RESTARTED, by the recovery loop', () => {
    expect(payloads(...running, interrupted()).at(-1)).toMatchObject({
      previous_status: 'running',
      status: 'interrupted',
      error_code: 'PROCESS_RESTARTED',
      actor: 'recovery',
    });
  });

  test('recovery abort goes from interrupted to failed', () => {
    const aborted = deadLettered({ from: 'interrupted', reason: 'recovery_aborted' });
    expect(payloads(...running, [interrupted(), ...aborted]).map(({ status }) => status)).toEqual([
      'queued',
      'running',
      'interrupted',
      'failed',
    ]);
  });

  test('an abandoned retry shows as running, then failed, without an attempt of its own', () => {
    const commits = [
      ...running,
      event('attempt.failed'),
      deadLettered({ from: 'retrying', reason: 'abandoned' }),
    ] as const;
    expect(payloads(...commits).map(({ status }) => status)).toEqual([
      'queued',
      'running',
      'retry_scheduled',
      'running',
      'failed',
    ]);
    expect(runAttempts(historyOf(...commits))).toHaveLength(1);
  });
});

describe('RUN-2 attempts', () => {
  test('RUN-2 a run begins at its task’s highest attempt plus one, and each retry takes the next', () => {
    const third = [
      created({ attemptBase: 2 }),
      claimedBy('worker-a'),
      event('attempt.failed'),
      claimedBy('worker-b'),
      event('job.succeeded'),
    ] as const;
    expect(runEvents(historyOf(...third)).map(({ payload }) => payload.attempt)).toEqual([3, 3, 3, 4, 4]);
    const attempts = runAttempts(historyOf(...third));
    expect(attempts).toEqual([
      expect.objectContaining({
        task_id: 'task_0001',
        attempt: 3,
        outcome: 'failed',
        error_code: 'TASK_EXECUTION_FAILED',
      }),
      expect.objectContaining({ task_id: 'task_0001', attempt: 4, outcome: 'succeeded', error_code: null }),
    ]);
    expect(new Set(attempts.map(({ attempt }) => attempt)).size).toBe(attempts.length);
  });

  test('a log that is empty has none', () => {
    expect(runAttempts([])).toEqual([]);
  });
});

describe('the run itself', () => {
  test('RUN-4 next_retry_at is set exactly while retry_scheduled, and the status field is run_status', () => {
    for (const [status, past] of Object.entries(PASTS)) {
      const { job } = given(past);
      if (!job) throw new Error('no job');
      const view = runView(job);
      expect(view.run_status === 'retry_scheduled', status).toBe(view.next_retry_at !== null);
    }
  });

  test('the view of a retried run', () => {
    const { job } = given(PASTS.retrying);
    expect(job && runView(job)).toEqual({
      run_id: 'job_00000001',
      task_id: 'task_0001',
      run_status: 'retry_scheduled',
      attempt: 2,
      idempotency_key: 'order_1001',
      next_retry_at: '2026-02-25T12:00:01Z',
      error_code: 'TASK_EXECUTION_FAILED',
      trace_id: 'trace-1',
      created_at: '2026-02-25T12:00:00Z',
      updated_at: '2026-02-25T12:00:00Z',
      started_at: '2026-02-25T12:00:00Z',
      finished_at: null,
    });
  });

  test('milliseconds are shown where there are any', () => {
    const { job } = given(scheduled(), event('job.cancelled', { at: T0 + 5 }));
    expect(job && runView(job).finished_at).toBe('2026-02-25T12:00:00.005Z');
  });
});
