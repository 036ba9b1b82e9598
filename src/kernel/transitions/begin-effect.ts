import type { BeginEffect } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import { acquire } from '../ledger.js';
import { isPastDeadline } from '../readiness.js';
import { stepKey } from '../step-ref.js';
import type { StepIndex } from '../step-log.js';

/** Records the intent to enter an effect's body. Accepted only where the ledger answers AllowExecute. */
export function beginEffect(job: Job, command: BeginEffect, steps: StepIndex): Decision {
  const { now, actor, attemptId, step, occurrence, tool, effectKey, input, bodyMayRun, storedResult } =
    command;
  const refused = refuseUnlessHeld(job, { attemptId, to: 'running' });
  if (refused) return refused;
  if (isPastDeadline(job, now)) return reject('DEADLINE_PASSED', { deadlineAt: job.spec.deadlineAt });

  const request = { attemptId, currentAttemptId: job.attemptId, tool, effectKey, bodyMayRun, storedResult };
  const answer = acquire(steps.get(command), request);
  switch (answer.verdict) {
    case 'AllowExecute':
      return accept({
        type: 'effect.intended',
        at: now,
        actor,
        step,
        occurrence,
        entry: answer.entry,
        tool,
        effectKey,
        input,
      });
    case 'ReturnRecordedResult':
      return reject('EFFECT_RECORDED', { step: stepKey(command) });
    case 'WaitOtherWorker':
      return reject('EFFECT_IN_FLIGHT', { step: stepKey(command), owner: answer.owner });
    case 'Barrier':
      return reject('EFFECT_BARRIER', { step: stepKey(command), entry: answer.entry });
    case 'Rejected':
      return reject(answer.code, { step: stepKey(command) });
  }
}
