import { describe, expect, test } from 'vitest';
import { claimedBy, command, created, given, interrupted, PASTS, T0 } from '../../testkit/index.js';
import { type Job } from '../index.js';

const TO_DLQ = [{ type: 'dlq.entered' }, { type: 'dlq.recorded' }, { type: 'job.failed' }] as const;

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
    worker('worker-a', 'worker-a.0').thenRejected('LEASE_ALIVE');
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

  test('a hand-back keeps what was interrupted resumable', () => {
    given(PASTS.running, interrupted('drained'))
      .when(command('claim', { attemptId: 'worker-b/1' }))
      .thenJob({ status: 'running', recoveryCount: 0 });
  });

  test('DEC-5 a job that was handed back is not given up as if it had crashed', () => {
    given(PASTS.running, interrupted('drained'))
      .when(command('abort-recovery'))
      .thenRejected('INVALID_TRANSITION');
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
