import type { Claim } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { illegal } from '../fence.js';
import type { Job } from '../job.js';
import { claimableAt, isPastDeadline } from '../readiness.js';

/**
 * A worker takes the lease. What kind of claim it is follows from the state: a first start, a due retry,
 * a recovery, or the end of a wait. A scheduled job that is due is promoted on the way.
 *
 * Attempt ids are drawn never to repeat; only the latest can be checked here.
 */
export function claim(job: Job, { now, actor, attemptId, worker, early }: Claim): Decision {
  const dueAt = claimableAt(job);
  if (dueAt === null) return illegal(job, 'running');
  if (now < dueAt && !early) return reject('NOT_DUE', { dueAt });
  if (isPastDeadline(job, now)) return reject('DEADLINE_PASSED', { deadlineAt: job.spec.deadlineAt });
  if (attemptId === job.attemptId) return reject('ATTEMPT_ID_REUSED', { attemptId });

  const started = { type: 'attempt.started', at: now, actor, attemptId, worker } as const;
  if (job.status === 'scheduled') return accept({ type: 'job.promoted', at: now, actor }, started);
  return accept(started);
}
