import { describe, expect, test } from 'vitest';
import { command, created, given, PASTS, T0 } from '../../testkit/index.js';

const TO_DLQ = [{ type: 'dlq.entered' }, { type: 'dlq.recorded' }, { type: 'job.failed' }] as const;

describe('giving up', () => {
  test('force-fail takes running, retrying and interrupted jobs to the dead-letter queue', () => {
    for (const from of ['running', 'retrying', 'interrupted'] as const) {
      given(PASTS[from])
        .when(command('force-fail', { reason: 'customer left' }))
        .thenEvents({ type: 'dlq.entered', from, reason: 'abandoned' }, ...TO_DLQ.slice(1))
        .thenJob({ status: 'failed', nextRetryAt: null, fenced: true });
    }
  });

  test('a job that was force-failed under its worker leaves it stale', () => {
    given(PASTS.running).when(command('force-fail')).when(command('complete')).thenRejected('STALE_ATTEMPT');
  });

  test('a deadline is not enforced before it passes, and not where there is none', () => {
    given(PASTS.queued)
      .when(command('expire-deadline', { now: T0 + 999_999 }))
      .thenRejected('NOT_DUE', { dueAt: T0 + 1_000_000 });
    given(created())
      .when(command('expire-deadline', { now: T0 + 1e9 }))
      .thenRejected('NOT_DUE', { dueAt: null });
  });

  const late = command('expire-deadline', { now: T0 + 1_000_000 });

  test('past its deadline a job is claimed and dead-lettered from wherever it stands', () => {
    const started = { type: 'attempt.started', attemptId: 'recovery/1' } as const;
    const entered = { type: 'dlq.entered', from: 'running', reason: 'deadline' } as const;
    const end = [entered, ...TO_DLQ.slice(1)];
    given(PASTS.scheduled)
      .when(late)
      .thenEvents({ type: 'job.promoted' }, started, ...end);
    given(PASTS.queued)
      .when(late)
      .thenEvents(started, ...end);
    given(PASTS.unblocked)
      .when(late)
      .thenEvents(started, ...end);
    given(PASTS.interrupted)
      .when(late)
      .thenEvents(started, ...end);
    const ended = { type: 'wait.completed', outcome: 'deadline' } as const;
    given(PASTS.waiting)
      .when(late)
      .thenEvents(ended, ended, started, ...end);
  });

  test('past its deadline nothing new is begun', () => {
    const passed = { deadlineAt: T0 + 1_000_000 };
    given(PASTS.queued)
      .when(command('claim', { now: T0 + 999_999 }))
      .thenEvents({ type: 'attempt.started' });
    given(PASTS.queued)
      .when(command('claim', { now: late.now }))
      .thenRejected('DEADLINE_PASSED', passed);
    given(PASTS.running)
      .when(command('begin-effect', { now: late.now, step: 'mail' }))
      .thenRejected('DEADLINE_PASSED', passed);
    given(PASTS.running)
      .when(command('complete', { now: late.now }))
      .thenEvents({ type: 'job.succeeded' });
  });

  test('a retrying job goes there directly', () => {
    given(PASTS.retrying)
      .when(late)
      .thenEvents({ type: 'dlq.entered', from: 'retrying', reason: 'deadline' }, ...TO_DLQ.slice(1));
  });

  test('a running job is ended by its own holder only', () => {
    given(PASTS.running).when(late).thenRejected('STALE_ATTEMPT');
    const { job } = given(PASTS.running)
      .when(command('expire-deadline', { now: late.now, attemptId: 'worker-a/1' }))
      .thenEvents({ type: 'dlq.entered', from: 'running', reason: 'deadline' }, ...TO_DLQ.slice(1));
    expect(job?.failure?.code).toBe('DEADLINE_EXCEEDED');
  });

  test('the claim that ends a job needs an attempt id of its own', () => {
    given(PASTS.interrupted)
      .when(command('expire-deadline', { now: late.now, attemptId: 'worker-a/1' }))
      .thenRejected('ATTEMPT_ID_REUSED');
  });
});
