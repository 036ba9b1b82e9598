import type { Complete } from '../command.js';
import { accept, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';

export function complete(job: Job, { now, actor, attemptId, result }: Complete): Decision {
  const refused = refuseUnlessHeld(job, { attemptId, to: 'succeeded' });
  if (refused) return refused;
  return accept({ type: 'job.succeeded', at: now, actor, result });
}
