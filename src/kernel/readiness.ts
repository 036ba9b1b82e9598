import type { Job } from './job.js';
import type { Timestamp } from './payload.js';

/**
 * When a claim may take the job, or null while none may. Stores index this value and compare it with their clock;
 * they need no rule of their own.
 */
export function claimableAt(job: Job): Timestamp | null {
  switch (job.status) {
    case 'scheduled':
    case 'queued':
      return job.spec.scheduledAt;
    case 'retrying':
      return job.nextRetryAt;
    case 'unblocked':
    case 'interrupted':
      return job.updatedAt;
    case 'running':
    case 'waiting':
    case 'dlq_pending':
    case 'dlq_recorded':
    case 'succeeded':
    case 'failed':
    case 'cancelled':
      return null;
  }
}

/** When the first wait of a waiting job expires; null if none does, and for every job that does not wait. */
export function wakesAt(job: Job): Timestamp | null {
  if (job.status !== 'waiting') return null;
  let earliest: Timestamp | null = null;
  for (const { expiresAt } of job.waits) {
    if (expiresAt !== null && (earliest === null || expiresAt < earliest)) earliest = expiresAt;
  }
  return earliest;
}

/** When the running attempt has used up its start-to-close time, or null if it is not limited. */
export function timesOutAt(job: Job): Timestamp | null {
  if (job.spec.timeoutMs === null || job.claimedAt === null) return null;
  return job.claimedAt + job.spec.timeoutMs - job.leasedMs;
}

/** Past it nothing new is begun: the job is dead-lettered as soon as nobody runs it. */
export function isPastDeadline(job: Job, now: Timestamp): boolean {
  return job.spec.deadlineAt !== null && now >= job.spec.deadlineAt;
}
