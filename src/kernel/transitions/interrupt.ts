import type { Interrupt, InterruptCause } from '../command.js';
import { deadLetter } from '../dead-letter.js';
import { accept, reject, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import { must } from '../invariant-violation.js';
import type { Job, WorkerRef } from '../job.js';
import { isLeaseOver } from '../worker-lease.js';
import { PROCESS_RESTARTED } from './abort-recovery.js';

/**
 * The lease is over although the attempt did not end. Needs evidence: an expired lease, the same worker back
 * with a new incarnation, or the holder handing the job back.
 *
 * A crash consumes no attempt, only a recovery; when those are spent, or the task does not want to be resumed,
 * recovery is aborted in the same commit. A hand-back counts for nothing.
 */
export function interrupt(job: Job, { now, actor, attemptId, cause }: Interrupt): Decision {
  const refused = refuseUnlessHeld(job, { attemptId, to: 'interrupted' });
  if (refused) return refused;
  const holder = must(job.worker, 'a running job has a holder');
  if (isAlive(holder, cause, now)) return reject('LEASE_ALIVE', { worker: holder.id });

  const interrupted = { type: 'attempt.interrupted', at: now, actor, reason: cause.reason } as const;
  const resumes = job.spec.recovery === 'resume' && job.recoveryCount < job.spec.maxRecoveries;
  if (cause.reason === 'drained' || resumes) return accept(interrupted);
  return accept(
    interrupted,
    ...deadLetter(job, {
      from: 'interrupted',
      reason: 'recovery_aborted',
      failure: PROCESS_RESTARTED,
      at: now,
      actor,
    }),
  );
}

function isAlive(holder: WorkerRef, cause: InterruptCause, now: number): boolean {
  switch (cause.reason) {
    case 'lease_expired':
      return !isLeaseOver(cause, now);
    case 'worker_restarted':
      // Incarnations sort by time: an older one that lives on must not rob its successor.
      return cause.worker.id !== holder.id || cause.worker.incarnation <= holder.incarnation;
    case 'drained':
      return false;
  }
}
