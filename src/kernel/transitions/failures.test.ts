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
  interrupted,
  PASTS,
  T0,
} from '../../testkit/index.js';
import { DEFAULT_RETRY, retryDelayMs, TIMEOUT_FAILURE, type Event, type Job } from '../index.js';

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
    given(PASTS.running)
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
      .when(command('begin-effect', { attemptId: 'worker-b/1', ownerAlive: true }))
      .thenRejected('EFFECT_IN_FLIGHT');
    retried
      .when(command('begin-effect', { attemptId: 'worker-b/1', ownerAlive: false }))
      .thenRejected('EFFECT_BARRIER', { step: 'charge#1', entry: 1 });
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

describe('interrupt', () => {
  const crash = command('interrupt', { cause: { reason: 'lease_expired', leaseUntil: null } });

  test('DEC-5 only an expired lease, a restart of that very worker or a hand-back interrupts', () => {
    const cause = (c: (typeof crash)['cause']) =>
      given(PASTS.running).when(command('interrupt', { now: T0, cause: c }));
    cause({ reason: 'lease_expired', leaseUntil: T0 + 1 }).thenRejected('LEASE_ALIVE', {
      worker: 'worker-a',
    });
    cause({ reason: 'lease_expired', leaseUntil: T0 }).thenJob({ interruptedReason: 'lease_expired' });
    cause({ reason: 'lease_expired', leaseUntil: null }).thenJob({ interruptedReason: 'lease_expired' });
    const worker = (id: string, incarnation: string) =>
      cause({ reason: 'worker_restarted', worker: { id, incarnation } });
    worker('worker-b', 'worker-b.2').thenRejected('LEASE_ALIVE');
    worker('worker-a', 'worker-a.1').thenRejected('LEASE_ALIVE');
    worker('worker-a', 'worker-a.2').thenJob({ interruptedReason: 'worker_restarted', recoveryCount: 1 });
    cause({ reason: 'drained' }).thenJob({
      interruptedReason: 'drained',
      recoveryCount: 0,
      status: 'interrupted',
    });
  });

  test('DEC-2 a crash consumes no attempt but a recovery', () => {
    given(PASTS.running)
      .when(crash)
      .thenEvents({ type: 'attempt.interrupted', reason: 'lease_expired' })
      .thenJob({ status: 'interrupted', retryCount: 0, recoveryCount: 1, worker: null, fenced: true });
  });

  /** Crashes the job as often as asked, resuming it in between; some attempts record a step first. */
  const crashTimes = (times: number, { recordingAt = [] }: { recordingAt?: number[] } = {}): Job | null => {
    let outcome = given(created()).when(command('claim', { attemptId: 'w/1' }));
    for (let n = 1; n <= times; n++) {
      const attemptId = `w/${n}`;
      if (recordingAt.includes(n))
        outcome = outcome.when(command('record-step', { attemptId, occurrence: n }));
      outcome = outcome.when({ ...crash, attemptId });
      if (outcome.job?.status === 'interrupted')
        outcome = outcome.when(command('claim', { attemptId: `w/${n + 1}` }));
    }
    return outcome.job;
  };

  test('DEC-2 five resumes, the sixth crash in a row aborts', () => {
    expect(crashTimes(5)).toMatchObject({ status: 'running', recoveryCount: 5 });
    expect(crashTimes(6)).toMatchObject({
      status: 'failed',
      failure: { code: 'PROCESS_RESTARTED', retryable: false },
      deadLetter: { from: 'interrupted', reason: 'recovery_aborted' },
    });
  });

  test('DEC-2 a newly recorded step resets the count', () => {
    expect(crashTimes(12, { recordingAt: [4, 8] })).toMatchObject({ status: 'running', recoveryCount: 5 });
  });

  test('DEC-3 recovery abort dead-letters in the same commit', () => {
    const { job } = given(created({ recovery: 'abort' }), claimedBy('worker-a'))
      .when(crash)
      .thenEvents(
        { type: 'attempt.interrupted' },
        { type: 'dlq.entered', from: 'interrupted', reason: 'recovery_aborted' },
        ...TO_DLQ.slice(1),
      );
    expect(job).toMatchObject({ status: 'failed', failure: { code: 'PROCESS_RESTARTED' } });
  });

  test('DEC-5 a hand-back counts for nothing and never aborts', () => {
    given(created({ recovery: 'abort', maxRecoveries: 0 }), claimedBy('worker-a'))
      .when(command('interrupt', { cause: { reason: 'drained' } }))
      .thenEvents({ type: 'attempt.interrupted', reason: 'drained' })
      .thenJob({ status: 'interrupted', recoveryCount: 0 });
  });

  test('DEC-5 a waiting job holds no lease and is never interrupted', () => {
    given(PASTS.waiting).when(crash).thenRejected('STALE_ATTEMPT');
  });

  test('an operator can give up an interrupted job', () => {
    given(PASTS.interrupted)
      .when(command('abort-recovery'))
      .thenEvents(
        { type: 'dlq.entered', from: 'interrupted', reason: 'recovery_aborted' },
        ...TO_DLQ.slice(1),
      );
  });
});

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

  test('a hand-back keeps what was interrupted resumable', () => {
    given(PASTS.running, interrupted('drained'))
      .when(command('claim', { attemptId: 'worker-b/1' }))
      .thenJob({ status: 'running', recoveryCount: 0 });
  });
});
