import { describe, expect, test } from 'vitest';
import {
  aFailure,
  aFatalFailure,
  aWait,
  claimedBy,
  command,
  created,
  event,
  given,
  PASTS,
  T0,
} from '../../testkit/index.js';
import { DEFAULT_RETRY, retryDelayMs, TIMEOUT_FAILURE, type Event } from '../index.js';

const TO_DLQ = [{ type: 'dlq.entered' }, { type: 'dlq.recorded' }, { type: 'job.failed' }] as const;

/** Fails every attempt with a retryable error, as often as asked, claiming each retry when it is due. */
function failTimes(times: number): ReturnType<ReturnType<typeof given>['when']> {
  let outcome = given(created()).when(command('claim', { attemptId: 'w/1' }));
  for (let i = 1; i <= times; i++) {
    outcome = outcome.when(command('fail-attempt', { attemptId: `w/${i}` }));
    const due = outcome.job?.nextRetryAt;
    if (due) outcome = outcome.when(command('claim', { attemptId: `w/${i + 1}`, now: due }));
  }
  return outcome;
}

describe('retries', () => {
  test('JOB-4 only errors marked retryable are retried', () => {
    given(PASTS.running)
      .when(command('fail-attempt', { failure: aFailure }))
      .thenEvents({ type: 'attempt.failed', retryCount: 1 })
      .thenJob({ status: 'retrying', retryCount: 1, failure: aFailure });
    given(PASTS.running)
      .when(command('fail-attempt', { failure: aFatalFailure }))
      .thenEvents(
        { type: 'dlq.entered', from: 'running', reason: 'non_retryable', failure: aFatalFailure },
        ...TO_DLQ.slice(1),
      )
      .thenJob({ status: 'failed', retryCount: 0, failure: aFatalFailure });
  });

  test('JOB-4 three retries by default, the fourth failure goes to the dead-letter queue', () => {
    expect(failTimes(3).job).toMatchObject({ status: 'running', retryCount: 3 });
    expect(failTimes(4).job).toMatchObject({
      status: 'failed',
      retryCount: 3,
      deadLetter: { from: 'running', reason: 'exhausted', dlqId: 'dlq_job_00000001' },
    });
  });

  test('JOB-5 the retry falls due after exactly the policy’s delay', () => {
    const delayMs = retryDelayMs(DEFAULT_RETRY, { seed: 'job_00000001', retryCount: 1 });
    given(created(), claimedBy('worker-a'))
      .when(command('fail-attempt', { now: T0 + 5 }))
      .thenJob({ nextRetryAt: T0 + 5 + delayMs, worker: null, fenced: true, leasedMs: 0 });
  });

  test('JOB-3 failed only ever follows dlq_recorded, in one commit', () => {
    given(PASTS.running)
      .when(command('fail-attempt', { failure: aFatalFailure }))
      .thenEvents(...TO_DLQ)
      .thenJob({
        status: 'failed',
        deadLetter: { from: 'running', reason: 'non_retryable', dlqId: 'dlq_job_00000001' },
      });
  });
});

describe('time-out', () => {
  const running = (timeoutMs: number | null, ...rest: Event[]) =>
    given(created({ timeoutMs }), claimedBy('worker-a'), ...rest);

  test('DEC-8 the timeout counts from the start of the attempt', () => {
    running(1_000)
      .when(command('time-out', { now: T0 + 999 }))
      .thenRejected('NOT_DUE', { dueAt: T0 + 1_000 });
    running(1_000)
      .when(command('time-out', { now: T0 + 1_000 }))
      .thenEvents({ type: 'attempt.failed', retryCount: 1 })
      .thenJob({ status: 'retrying', failure: TIMEOUT_FAILURE });
    running(null)
      .when(command('time-out', { now: T0 + 1e9 }))
      .thenRejected('NOT_DUE', { dueAt: null });
  });

  test('DEC-8 time spent waiting does not count, time under lease before it does', () => {
    const THREE_DAYS = 3 * 86_400_000;
    const waited = running(
      1_000,
      event('wait.begun', { at: T0 + 400 }),
      event('wait.completed', { at: T0 + THREE_DAYS }),
      event('attempt.started', { at: T0 + THREE_DAYS, attemptId: 'worker-a/2' }),
    );
    const timeOut = (now: number) => command('time-out', { now, attemptId: 'worker-a/2' });
    waited.when(timeOut(T0 + THREE_DAYS + 599)).thenRejected('NOT_DUE', { dueAt: T0 + THREE_DAYS + 600 });
    waited.when(timeOut(T0 + THREE_DAYS + 600)).thenEvents({ type: 'attempt.failed' });
  });

  /** 400 ms under lease, a wait, 300 ms under lease, another wait, and leased again at 10 s. */
  const twoWaits = [
    event('wait.begun', { at: T0 + 400 }),
    event('wait.completed', { at: T0 + 5_000 }),
    event('attempt.started', { at: T0 + 5_000, attemptId: 'worker-a/2' }),
    event('wait.begun', { at: T0 + 5_300, waits: [aWait({ key: 'second', step: 'second' })] }),
    event('wait.completed', { at: T0 + 10_000, wait: aWait({ key: 'second', step: 'second' }) }),
    event('attempt.started', { at: T0 + 10_000, attemptId: 'worker-a/3' }),
  ];

  test('DEC-8 the stretches between several waits add up', () => {
    running(1_000, ...twoWaits)
      .when(command('time-out', { now: T0 + 10_299, attemptId: 'worker-a/3' }))
      .thenRejected('NOT_DUE', { dueAt: T0 + 10_300 });
  });

  test('DEC-8 a retry begins with none of them', () => {
    running(
      1_000,
      ...twoWaits,
      event('attempt.failed', { at: T0 + 10_200, nextRetryAt: T0 + 11_200 }),
      event('attempt.started', { at: T0 + 11_200, attemptId: 'worker-a/4' }),
    )
      .when(command('time-out', { now: T0 + 12_199, attemptId: 'worker-a/4' }))
      .thenRejected('NOT_DUE', { dueAt: T0 + 12_200 });
  });

  test('DEC-9 a timed-out attempt is retried, and the next one has the full time again', () => {
    const retried = running(
      1_000,
      event('attempt.failed', { at: T0 + 1_000, nextRetryAt: T0 + 2_000 }),
      event('attempt.started', { at: T0 + 2_000, attemptId: 'worker-a/2' }),
    );
    retried.when(command('time-out', { now: T0 + 2_999, attemptId: 'worker-a/2' })).thenRejected('NOT_DUE');
  });

  test('DEC-9 an effect that the timed-out attempt left unconfirmed is not entered again', () => {
    const retried = given(PASTS.running, event('attempt.failed'), claimedBy('worker-b'));
    retried
      .when(command('begin-effect', { attemptId: 'worker-b/1', bodyMayRun: true }))
      .thenRejected('EFFECT_IN_FLIGHT');
    retried
      .when(command('begin-effect', { attemptId: 'worker-b/1', bodyMayRun: false }))
      .thenRejected('EFFECT_BARRIER', { step: 'charge#1', entry: 1 });
  });

  test('a clock that is set back gives an attempt no extra time', () => {
    running(1_000, event('wait.begun', { at: T0 - 5_000 }))
      .when(command('complete-wait'))
      .thenJob({ leasedMs: 0 });
  });

  test('a crash does not eat into the attempt’s time', () => {
    running(
      1_000,
      event('attempt.interrupted', { at: T0 + 900 }),
      event('attempt.started', { at: T0 + 900, attemptId: 'w/2' }),
    )
      .when(command('time-out', { now: T0 + 1_899, attemptId: 'w/2' }))
      .thenRejected('NOT_DUE', { dueAt: T0 + 1_900 });
  });
});
