import type { CompleteWait } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { illegal } from '../fence.js';
import type { Job } from '../job.js';
import { decidedEntry } from '../wait.js';

/**
 * Makes a waiting job claimable again. Only a wait that is open can complete, hence each does so once. A timer ends
 * by itself, and a decision about an effect by `resolve-effect` alone.
 */
export function completeWait(job: Job, { now, actor, key, payload }: CompleteWait): Decision {
  if (job.status !== 'waiting') return illegal(job, 'unblocked');
  const wait = job.waits.find((open) => open.key === key);
  if (!wait || wait.kind === 'timer' || decidedEntry(wait)) return reject('WAIT_NOT_OPEN', { key });
  return accept({ type: 'wait.completed', at: now, actor, wait, outcome: 'received', payload });
}
