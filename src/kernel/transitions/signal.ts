import type { Signal } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { illegal } from '../fence.js';
import type { Job } from '../job.js';
import { isLive } from '../status.js';
import { SIGNAL_KEY } from '../wait.js';

/**
 * A signal from outside. The caller puts every accepted one in the job's inbox first; events come back only
 * where it completes an open wait at once. Elsewhere it stays in the inbox until the handler asks for it.
 */
export function signal(job: Job, { now, actor, key, payload, received }: Signal): Decision {
  const { signals } = job.spec;
  if (!SIGNAL_KEY.test(key) || (signals !== null && !signals.includes(key))) {
    return reject('INVALID_SIGNAL_KEY', { key });
  }
  if (received) return accept();
  if (!isLive(job.status)) return illegal(job, 'unblocked');
  const wait = job.status === 'waiting' ? job.waits.find((open) => open.key === key) : undefined;
  if (!wait) return accept();
  return accept({ type: 'wait.completed', at: now, actor, wait, outcome: 'received', payload });
}
