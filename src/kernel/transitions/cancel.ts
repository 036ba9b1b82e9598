import type { Cancel } from '../command.js';
import { accept, type Decision } from '../decision.js';
import { illegal } from '../fence.js';
import type { Job } from '../job.js';
import { isLive } from '../status.js';

/** Ends a job for good. A running attempt loses its lease with this commit, so all it writes later is stale. */
export function cancel(job: Job, { now, actor, reason }: Cancel): Decision {
  if (!isLive(job.status)) return illegal(job, 'cancelled');
  return accept({ type: 'job.cancelled', at: now, actor, reason });
}
