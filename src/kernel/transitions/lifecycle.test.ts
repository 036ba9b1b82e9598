import { describe, expect, test } from 'vitest';
import {
  aJobSpec,
  claimedBy,
  command,
  created,
  event,
  given,
  PASTS,
  scheduled,
  T0,
} from '../../testkit/index.js';
import { attemptOf, STATUSES, TRANSITIONS, type Status } from '../index.js';

describe('create', () => {
  test('a job that is due at once is promoted in the same commit', () => {
    given()
      .when(command('create'))
      .thenEvents({ type: 'job.created' }, { type: 'job.promoted', at: T0 })
      .thenJob({ status: 'queued', retryCount: 0, createdAt: T0, startedAt: null });
  });

  test('a job that is due later is only created', () => {
    given()
      .when(command('create', { spec: aJobSpec({ scheduledAt: T0 + 1 }) }))
      .thenEvents({ type: 'job.created' })
      .thenJob({ status: 'scheduled' });
  });

  test('a deadline that lies before the start is refused', () => {
    const spec = (overrides: object) => command('create', { spec: aJobSpec(overrides) });
    given()
      .when(spec({ deadlineAt: T0 }))
      .thenRejected('INVALID_COMMAND');
    given()
      .when(spec({ scheduledAt: T0 + 10, deadlineAt: T0 + 10 }))
      .thenRejected('INVALID_COMMAND');
    given()
      .when(spec({ scheduledAt: T0 + 10, deadlineAt: T0 + 11 }))
      .thenEvents({ type: 'job.created' });
  });
});

describe('promote and claim', () => {
  test('a job is not promoted before its time', () => {
    const past = scheduled({ scheduledAt: T0 + 1_000 });
    given(past)
      .when(command('promote', { now: T0 + 999 }))
      .thenRejected('NOT_DUE', { dueAt: T0 + 1_000 });
    given(past)
      .when(command('promote', { now: T0 + 1_000 }))
      .thenEvents({ type: 'job.promoted', at: T0 + 1_000 });
  });

  test('a claim takes a due scheduled job through queued', () => {
    const past = scheduled({ scheduledAt: T0 + 1_000 });
    given(past)
      .when(command('claim', { now: T0 + 999 }))
      .thenRejected('NOT_DUE', { dueAt: T0 + 1_000 });
    given(past)
      .when(command('claim', { now: T0 + 1_000 }))
      .thenEvents({ type: 'job.promoted' }, { type: 'attempt.started', attemptId: 'worker-a/1' })
      .thenJob({ status: 'running', startedAt: T0 + 1_000, claimedAt: T0 + 1_000 });
  });

  test('DEC-1 attempt_id is new at every claim and unchanged by heartbeats, attempt counts retries alone', () => {
    const { job } = given(created())
      .when(command('claim'))
      .when(command('heartbeat'))
      .thenEvents()
      .thenJob({ attemptId: 'worker-a/1', fenced: false });
    expect(job && attemptOf(job)).toBe(1);

    const crashed = given(PASTS.interrupted);
    crashed.when(command('claim', { attemptId: 'worker-a/1' })).thenRejected('ATTEMPT_ID_REUSED');
    const resumed = crashed
      .when(command('claim', { attemptId: 'worker-b/7' }))
      .thenJob({ attemptId: 'worker-b/7' });
    expect(resumed.job && attemptOf(resumed.job)).toBe(1);
    const retried = given(PASTS.retrying).when(
      command('claim', { now: T0 + 1_000, attemptId: 'worker-b/8' }),
    );
    expect(retried.job && attemptOf(retried.job)).toBe(2);
    expect(retried.job?.retryCount).toBe(1);
  });

  test('JOB-11 an operator’s claim does not wait for the due time', () => {
    given(PASTS.retrying)
      .when(command('claim', { now: T0 + 1, attemptId: 'worker-b/1', early: true, actor: 'operator:key_1' }))
      .thenJob({ status: 'running', nextRetryAt: null });
  });

  test('a retry is not claimed before it is due', () => {
    given(PASTS.retrying)
      .when(command('claim', { now: T0 + 999, attemptId: 'worker-b/1' }))
      .thenRejected('NOT_DUE', { dueAt: T0 + 1_000 });
  });

  test('the first start time stays through later claims', () => {
    given(PASTS.interrupted)
      .when(command('claim', { now: T0 + 50, attemptId: 'worker-b/1' }))
      .thenJob({ startedAt: T0, claimedAt: T0 + 50, interruptedReason: null });
  });
});

describe('complete and cancel', () => {
  test('success keeps the result and clears the failures on the way', () => {
    given(PASTS.retrying, claimedBy('worker-b'))
      .when(command('complete', { now: T0 + 9, attemptId: 'worker-b/1', result: '{"ok":1}' }))
      .thenEvents({ type: 'job.succeeded', result: '{"ok":1}' })
      .thenJob({ status: 'succeeded', failure: null, result: '{"ok":1}', worker: null, finishedAt: T0 + 9 });
  });

  test('DEC-7 a repeated terminal write is an error and changes nothing', () => {
    given(PASTS.succeeded)
      .when(command('complete'))
      .thenRejected('INVALID_TRANSITION', { from: 'succeeded', to: 'succeeded' });
    given(PASTS.failed)
      .when(command('fail-attempt'))
      .thenRejected('INVALID_TRANSITION', { from: 'failed', to: 'retrying' });
    given(PASTS.cancelled)
      .when(command('cancel'))
      .thenRejected('INVALID_TRANSITION', { from: 'cancelled', to: 'cancelled' });
  });

  test('cancelling a running job revokes its lease, and what it writes later is stale', () => {
    given(PASTS.running)
      .when(command('cancel', { reason: 'duplicate order' }))
      .thenEvents({ type: 'job.cancelled', reason: 'duplicate order' })
      .thenJob({ status: 'cancelled', worker: null, fenced: true, finishedAt: T0 })
      .when(command('record-step'))
      .thenRejected('STALE_ATTEMPT');
  });

  test('cancelling a waiting job closes its waits', () => {
    given(PASTS.waiting).when(command('cancel')).thenJob({ status: 'cancelled', waits: [] });
  });
});

describe('GUA-2 fencing', () => {
  test('GUA-2 refuses a worker that no longer holds the lease', () => {
    given(created(), claimedBy('worker-a'), event('attempt.interrupted'), claimedBy('worker-b'))
      .when(command('fail-attempt', { attemptId: 'worker-a/1' }))
      .thenRejected('STALE_ATTEMPT', { current: 'worker-b/1' });
  });

  test('GUA-2 refuses it also before anyone has taken the job over', () => {
    for (const type of ['complete', 'fail-attempt', 'record-step', 'begin-effect', 'begin-wait'] as const) {
      given(PASTS.interrupted).when(command(type)).thenRejected('STALE_ATTEMPT');
    }
  });

  test('GUA-2 a worker whose rival finished the job is stale, not merely late', () => {
    given(PASTS.interrupted, claimedBy('worker-b'), event('job.succeeded'))
      .when(command('complete', { attemptId: 'worker-a/1' }))
      .thenRejected('STALE_ATTEMPT');
  });
});

test('nothing returns to queued and nothing leaves a terminal state', () => {
  expect(TRANSITIONS.filter(({ to }) => to === 'queued')).toEqual([
    { from: 'scheduled', to: 'queued', event: 'job.promoted' },
  ]);
  const left = new Set(TRANSITIONS.map(({ from }) => from));
  expect(STATUSES.filter((status: Status) => !left.has(status))).toEqual([
    'succeeded',
    'failed',
    'cancelled',
  ]);
});
