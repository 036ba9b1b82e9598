import type { AbortRecovery } from '../command.js';
import { deadLetter } from '../dead-letter.js';
import { accept, type Decision } from '../decision.js';
import { permanentFailure } from '../failure.js';
import { illegal } from '../fence.js';
import type { Job } from '../job.js';

export const PROCESS_RESTARTED = permanentFailure('PROCESS_RESTARTED', {
  message: 'the worker vanished and the job is not to be resumed',
});

/** An interrupted job is given up instead of being resumed. One that was only handed back has not failed at anything. */
export function abortRecovery(job: Job, { now, actor }: AbortRecovery): Decision {
  if (job.status !== 'interrupted' || job.interruptedReason === 'drained') return illegal(job, 'dlq_pending');
  return accept(
    ...deadLetter(job, {
      from: 'interrupted',
      reason: 'recovery_aborted',
      failure: PROCESS_RESTARTED,
      at: now,
      actor,
    }),
  );
}
