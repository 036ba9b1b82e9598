import type { ConsumeWait } from '../command.js';
import { accept, reject, type Decision, type Rejected } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import { stepKey } from '../step.js';
import type { StepIndex } from '../step-log.js';
import type { Wait } from '../wait.js';

/** What the handler waits for is already there: it is recorded and the handler goes on under its lease. */
export function consumeWait(job: Job, command: ConsumeWait, steps: StepIndex): Decision {
  const { now, actor, attemptId, outcome, payload } = command;
  const refused = refuseUnlessHeld(job, { attemptId, to: 'running' }) ?? refuseKey(command.wait, steps);
  if (refused) return refused;

  const wait = steps.waitFor(command.wait.key)?.wait ?? command.wait;
  if ((wait.kind === 'timer') !== (outcome === 'elapsed')) {
    return reject('INVALID_COMMAND', { field: 'outcome', problem: 'a timer elapses, and nothing else does' });
  }
  if (outcome !== 'received' && (wait.expiresAt === null || now < wait.expiresAt)) {
    return reject('NOT_DUE', { dueAt: wait.expiresAt });
  }
  return accept({ type: 'wait.completed', at: now, actor, wait, outcome, payload });
}

/** A correlation key belongs to one step for ever, and a step that is something else cannot become a wait. */
export function refuseKey(wait: Wait, steps: StepIndex): Rejected | null {
  const known = steps.waitFor(wait.key);
  if (known && (known.outcome !== null || stepKey(known.wait) !== stepKey(wait))) {
    return reject('WAIT_KEY_REUSED', { key: wait.key, step: stepKey(known.wait) });
  }
  const step = steps.get(wait);
  if (step && (step.kind !== 'wait' || step.wait.key !== wait.key)) {
    return reject('NONDETERMINISM', { step: stepKey(wait), recorded: step.kind, requested: 'wait' });
  }
  return null;
}
