import type { Heartbeat } from '../command.js';
import { accept, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';

/** Nothing is recorded: the lease is renewed once per worker, and this only tells whether the job is still held. */
export function heartbeat(job: Job, { attemptId }: Heartbeat): Decision {
  return refuseUnlessHeld(job, { attemptId, to: 'running' }) ?? accept();
}
