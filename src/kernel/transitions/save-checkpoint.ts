import type { SaveCheckpoint } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import type { StepIndex } from '../step-log.js';

/**
 * Where a long loop stands. A shortcut for replay: without it the same result is reached step by step.
 *
 * Whoever starts from here does not read what came before. So nothing may be pending: an effect of unknown outcome,
 * or a wait, would be forgotten. Steps keep the numbers that they would have had.
 */
export function saveCheckpoint(
  job: Job,
  { now, actor, attemptId, state }: SaveCheckpoint,
  steps: StepIndex,
): Decision {
  const refused = refuseUnlessHeld(job, { attemptId, to: 'running' });
  if (refused) return refused;
  const pending = steps.findPending();
  if (pending !== null) return reject('CHECKPOINT_UNSETTLED', { step: pending });
  return accept({ type: 'checkpoint.saved', at: now, actor, state, occurrences: steps.occurrences() });
}
