import type { SaveCheckpoint } from '../command.js';
import { accept, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';

/** Where a long loop stands. A shortcut for replay: without it the same result is reached step by step. */
export function saveCheckpoint(
  job: Job,
  { now, actor, attemptId, state, occurrences }: SaveCheckpoint,
): Decision {
  const refused = refuseUnlessHeld(job, { attemptId, to: 'running' });
  if (refused) return refused;
  return accept({ type: 'checkpoint.saved', at: now, actor, state, occurrences });
}
