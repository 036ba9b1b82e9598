import type { Event } from './event.js';
import type { Failure } from './failure.js';
import type { Actor, DeadLetter, Job } from './job.js';
import type { Timestamp } from './payload.js';

/** A job is dead-lettered at most once, so its item can be named after it. */
export function dlqIdOf(jobId: string): string {
  return `dlq_${jobId}`;
}

type Ending = Pick<DeadLetter, 'from' | 'reason'> & {
  readonly failure: Failure;
  readonly at: Timestamp;
  readonly actor: Actor;
};

/**
 * The only way to `failed`: three events of one commit, which also writes the item's row.
 * Nobody ever sees the states in between, so there is nothing to repair after a crash.
 */
export function deadLetter(job: Job, { from, reason, failure, at, actor }: Ending): Event[] {
  return [
    { type: 'dlq.entered', at, actor, from, reason, failure },
    { type: 'dlq.recorded', at, actor, dlqId: dlqIdOf(job.spec.jobId) },
    { type: 'job.failed', at, actor },
  ];
}
