import type { BeginWait } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import { stepKey } from '../step-ref.js';
import type { StepIndex } from '../step-log.js';
import type { Wait } from '../wait.js';
import { refuseWait } from './refuse-wait.js';

/**
 * Nothing in the handler can go on: the job gives up its lease until one of its waits completes.
 *
 * Of several parallel waits one may end before the others. The handler then runs again and asks for the rest anew;
 * those stay as they began, so that a sleep is not prolonged by its neighbours. Only new waits are recorded.
 */
export function beginWait(job: Job, { now, actor, attemptId, waits }: BeginWait, steps: StepIndex): Decision {
  const refused = refuseUnlessHeld(job, { attemptId, to: 'waiting' });
  if (refused) return refused;

  const begun: Wait[] = [];
  const keys = new Set<string>();
  const taken = new Set<string>();
  for (const wait of waits) {
    const refusedWait = refuseWait(job, wait, steps);
    if (refusedWait) return refusedWait;
    const step = stepKey(wait);
    if (keys.has(wait.key) || taken.has(step)) return reject('WAIT_KEY_REUSED', { key: wait.key, step });
    keys.add(wait.key);
    taken.add(step);
    if (steps.waitFor(wait.key) === undefined) begun.push(wait);
  }
  return accept({ type: 'wait.begun', at: now, actor, waits: begun });
}
