import type { ForceFail } from '../command.js';
import { deadLetter } from '../dead-letter.js';
import { accept, type Decision } from '../decision.js';
import { permanentFailure } from '../failure.js';
import { illegal } from '../fence.js';
import type { Job } from '../job.js';

/** An operator gives the job up. What has not started yet, or only waits, is cancelled instead. */
export function forceFail(job: Job, { now, actor, reason }: ForceFail): Decision {
  const from = job.status;
  if (from !== 'running' && from !== 'retrying' && from !== 'interrupted') return illegal(job, 'dlq_pending');
  const failure = permanentFailure('ABANDONED', { message: reason });
  return accept(...deadLetter(job, { from, reason: 'abandoned', failure, at: now, actor }));
}
