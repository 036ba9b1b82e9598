import type { RecordStep } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import { stepKey } from '../step-ref.js';
import type { StepIndex } from '../step-log.js';

/** A step's result, recorded once. From here on replay injects it. */
export function recordStep(job: Job, command: RecordStep, steps: StepIndex): Decision {
  const { now, actor, attemptId, step, occurrence, startedAt, output } = command;
  const refused = refuseUnlessHeld(job, { attemptId, to: 'running' });
  if (refused) return refused;

  const known = steps.get(command);
  if (known && known.kind !== 'run') {
    return reject('NONDETERMINISM', { step: stepKey(command), recorded: known.kind, requested: 'run' });
  }
  if (known && known.output !== null) return reject('STEP_ALREADY_RECORDED', { step: stepKey(command) });
  return accept({ type: 'step.recorded', at: now, actor, step, occurrence, startedAt, output });
}
