import { reject, type Rejected } from '../decision.js';
import type { Job } from '../job.js';
import { stepKey, type StepRef } from '../step-ref.js';
import type { StepIndex } from '../step-log.js';
import { decidedEntry, type Wait } from '../wait.js';

/**
 * Refuses a wait that could never end, or whose key or step belongs to something else; null lets it pass.
 *
 * A correlation key belongs to one step for ever. A step that is something else cannot become a wait. Of what came before a
 * checkpoint only names are known; what people answer is a step of its key's name, so they tell that the key was used.
 */
export function refuseWait(job: Job, wait: Wait, steps: StepIndex): Rejected | null {
  const known = steps.waitFor(wait.key);
  if (known && (known.outcome !== null || stepKey(known.wait) !== stepKey(wait))) {
    return reject('WAIT_KEY_REUSED', { key: wait.key, step: stepKey(known.wait) });
  }
  if (!known && steps.isBeforeCheckpoint(wait.key)) {
    return reject('WAIT_KEY_REUSED', { key: wait.key, step: wait.key });
  }
  const step = steps.get(wait);
  if (step && (step.kind !== 'wait' || step.wait.key !== wait.key)) {
    return reject('NONDETERMINISM', { step: stepKey(wait), recorded: step.kind, requested: 'wait' });
  }
  const decided = decidedEntry(wait);
  if (decided && !isUndecided(decided, steps)) return reject('WAIT_NOT_OPEN', { key: wait.key });

  const { signals } = job.spec;
  const fromOutside = !wait.key.includes('#');
  if (fromOutside && signals !== null && !signals.includes(wait.key)) {
    return reject('INVALID_SIGNAL_KEY', { key: wait.key });
  }
  return null;
}

/** An operator can decide only on the latest entry of an effect, and only while its outcome is unknown. */
function isUndecided(ref: StepRef & { readonly entry: number }, steps: StepIndex): boolean {
  const effect = steps.get(ref);
  return (
    effect?.kind === 'effect' &&
    effect.entry === ref.entry &&
    (effect.state === 'open' || effect.state === 'unknown')
  );
}
