import type { ReconcileEffect } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import type { Job } from '../job.js';
import { stepKey } from '../step-ref.js';
import type { StepIndex } from '../step-log.js';
import { findHeldEntry } from './settle-effect.js';

/**
 * Someone looked outside and says what became of an entry.
 *
 * Asking too early would look before the request has arrived: the body must have ended, or its owner be dead, and
 * the intent be `settleMs` old. A result that is stored beats every verdict.
 */
export function reconcileEffect(job: Job, command: ReconcileEffect, steps: StepIndex): Decision {
  const { now, actor, step, occurrence, entry, verdict, bodyMayRun, settleMs, storedResult } = command;
  const found = findHeldEntry(job, command, steps);
  if (!found.ok) return found;

  const { effect } = found;
  if (storedResult !== null) {
    return accept({ type: 'effect.recorded', at: now, actor, step, occurrence, entry, result: storedResult });
  }
  const settledAt = effect.intendedAt + settleMs;
  const mayStillRun = effect.state === 'open' && bodyMayRun;
  if (mayStillRun || now < settledAt)
    return reject('EFFECT_UNSETTLED', { step: stepKey(command), settledAt });

  const result = verdict.kind === 'happened' ? verdict.result : null;
  return accept({
    type: 'effect.reconciled',
    at: now,
    actor,
    step,
    occurrence,
    entry,
    verdict: verdict.kind,
    result,
  });
}
