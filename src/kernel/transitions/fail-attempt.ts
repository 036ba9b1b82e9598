import type { FailAttempt } from '../command.js';
import { deadLetter } from '../dead-letter.js';
import { accept, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import { retryDelayMs } from '../retry-policy.js';

/**
 * A worker reports that its attempt failed: a retry while the policy has one left, else the dead-letter queue.
 *
 * Only the lease holder may report. A lease that ran out but was not taken over still counts:
 * refusing it would only repeat work whose result is already known.
 */
export function failAttempt(job: Job, { now, actor, attemptId, failure }: FailAttempt): Decision {
  const refused = refuseUnlessHeld(job, { attemptId, to: 'retrying' });
  if (refused) return refused;

  if (!failure.retryable) {
    return accept(...deadLetter(job, { from: 'running', reason: 'non_retryable', failure, at: now, actor }));
  }
  const { jobId, retry } = job.spec;
  if (job.retryCount >= retry.maxRetries) {
    return accept(...deadLetter(job, { from: 'running', reason: 'exhausted', failure, at: now, actor }));
  }
  const retryCount = job.retryCount + 1;
  const nextRetryAt = now + retryDelayMs(retry, { seed: jobId, retryCount });
  return accept({ type: 'attempt.failed', at: now, actor, failure, retryCount, nextRetryAt });
}
