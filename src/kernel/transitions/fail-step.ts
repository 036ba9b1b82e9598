import type { FailStep } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import { attemptOf, type Job } from '../job.js';
import { retryDelayMs } from '../retry-policy.js';
import { stepKey } from '../step-ref.js';
import type { StepIndex } from '../step-log.js';

/**
 * One try of a step failed. It is counted in the log, so that a crash between tries does not hand out new ones.
 * A step that gives up does so for this attempt of the job; the next attempt starts counting again.
 */
export function failStep(job: Job, command: FailStep, steps: StepIndex): Decision {
  const { now, actor, attemptId, step, occurrence, startedAt, failure, retry } = command;
  const refused = refuseUnlessHeld(job, { attemptId, to: 'running' });
  if (refused) return refused;

  const known = steps.get(command);
  if (known && known.kind !== 'run') {
    return reject('NONDETERMINISM', { step: stepKey(command), recorded: known.kind, requested: 'run' });
  }
  if (known && known.output !== null) return reject('STEP_ALREADY_RECORDED', { step: stepKey(command) });

  const tries = 1 + (known?.failedInAttempt === attemptOf(job) ? known.tries : 0);
  const triesAgain = failure.retryable && tries <= retry.maxRetries;
  const seed = `${job.spec.jobId}:${stepKey(command)}`;
  const nextTryAt = triesAgain ? now + retryDelayMs(retry, { seed, retryCount: tries }) : null;
  return accept({
    type: 'step.failed',
    at: now,
    actor,
    step,
    occurrence,
    startedAt,
    tries,
    failure,
    nextTryAt,
  });
}
