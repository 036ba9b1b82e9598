import type { TimeOut } from '../command.js';
import { reject, type Decision } from '../decision.js';
import { TIMEOUT_FAILURE } from '../failure.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import { timesOutAt } from '../readiness.js';
import { failAttempt } from './fail-attempt.js';

/** The attempt used up its start-to-close time. Time spent waiting was not under lease and does not count. */
export function timeOut(job: Job, { now, actor, attemptId }: TimeOut): Decision {
  const refused = refuseUnlessHeld(job, { attemptId, to: 'retrying' });
  if (refused) return refused;

  const dueAt = timesOutAt(job);
  if (dueAt === null || now < dueAt) return reject('NOT_DUE', { dueAt });
  return failAttempt(job, { type: 'fail-attempt', now, actor, attemptId, failure: TIMEOUT_FAILURE });
}
