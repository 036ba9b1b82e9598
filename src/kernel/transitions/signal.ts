import type { Signal } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { illegal } from '../fence.js';
import { isWaitOver } from '../is-wait-over.js';
import type { Job } from '../job.js';
import { isLive } from '../status.js';
import type { StepIndex } from '../step-log.js';
import { SIGNAL_KEY } from '../wait.js';

/**
 * A signal from outside. The caller puts every accepted one in the job's inbox first; events come back only
 * where it completes an open wait at once. Elsewhere it stays in the inbox until the handler asks for it. One that comes
 * too late, because its wait has run out, is refused: kept, it would never be read.
 */
export function signal(job: Job, { now, actor, key, payload, received }: Signal, steps: StepIndex): Decision {
  const { signals } = job.spec;
  if (!SIGNAL_KEY.test(key) || (signals !== null && !signals.includes(key))) {
    return reject('INVALID_SIGNAL_KEY', { key });
  }
  if (received || steps.waitFor(key)?.outcome === 'received') return accept();
  if (!isLive(job.status)) return illegal(job, 'unblocked');
  const wait = job.status === 'waiting' ? job.waits.find((open) => open.key === key) : undefined;
  if (!wait) return isWaitOver(key, steps) ? reject('WAIT_NOT_OPEN', { key }) : accept();
  return accept({ type: 'wait.completed', at: now, actor, wait, outcome: 'received', payload });
}
