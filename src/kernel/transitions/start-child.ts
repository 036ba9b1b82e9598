import type { StartChild } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import { stepKey } from '../step-ref.js';
import type { StepIndex } from '../step-log.js';
import { refuseWait } from './refuse-wait.js';

/** A child is started once for each step; the commit that says so also sends the start on its way. */
export function startChild(
  job: Job,
  { now, actor, attemptId, wait, child }: StartChild,
  steps: StepIndex,
): Decision {
  const refused = refuseUnlessHeld(job, { attemptId, to: 'running' });
  if (refused) return refused;
  if (wait.kind !== 'child') return reject('INVALID_COMMAND', { field: 'wait.kind' });

  const known = steps.get(wait);
  if (known === undefined)
    return refuseWait(job, wait, steps) ?? accept({ type: 'child.started', at: now, actor, wait, child });
  const same =
    known.kind === 'wait' && known.child?.task === child.task && known.child.inputHash === child.inputHash;
  if (same) return reject('STEP_ALREADY_RECORDED', { step: stepKey(wait) });
  return reject('NONDETERMINISM', { step: stepKey(wait), recorded: known.kind, requested: 'child' });
}
