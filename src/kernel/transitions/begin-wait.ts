import type { BeginWait } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import { stepKey } from '../step.js';
import type { StepIndex } from '../step-log.js';
import type { Wait } from '../wait.js';
import { refuseKey } from './consume-wait.js';

/**
 * Nothing in the handler can go on: the job gives up its lease until one of its waits completes.
 *
 * Of several parallel waits one may end before the others. The handler then runs again and asks for the rest anew;
 * those keep the expiry they began with, so that a sleep is not prolonged by its neighbours.
 */
export function beginWait(job: Job, { now, actor, attemptId, waits }: BeginWait, steps: StepIndex): Decision {
  const refused = refuseUnlessHeld(job, { attemptId, to: 'waiting' });
  if (refused) return refused;

  const begun: Wait[] = [];
  for (const wait of waits) {
    const refusedKey = refuseKey(wait, steps);
    if (refusedKey) return refusedKey;
    const twin = begun.find((other) => other.key === wait.key || stepKey(other) === stepKey(wait));
    if (twin) return reject('WAIT_KEY_REUSED', { key: wait.key, step: stepKey(twin) });
    begun.push(steps.waitFor(wait.key)?.wait ?? wait);
  }
  return accept({ type: 'wait.begun', at: now, actor, waits: begun });
}
