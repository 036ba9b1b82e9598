import { reject, type Rejected } from './decision.js';
import type { Job } from './job.js';
import type { Status } from './status.js';

/**
 * Refuses everyone but the lease holder; null lets it pass.
 *
 * The attempt is looked at before the state, so a worker that lost its lease always hears STALE_ATTEMPT, whatever
 * became of the job. Only the attempt that ended the job itself gets INVALID_TRANSITION when it writes again.
 */
export function refuseUnlessHeld(
  job: Job,
  { attemptId, to }: { attemptId: string; to: Status },
): Rejected | null {
  if (job.fenced || job.attemptId !== attemptId) return reject('STALE_ATTEMPT', { current: job.attemptId });
  if (job.status !== 'running') return reject('INVALID_TRANSITION', { from: job.status, to });
  return null;
}

export function illegal(job: Job, to: Status): Rejected {
  return reject('INVALID_TRANSITION', { from: job.status, to });
}
