import type { ResolveEffect } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import type { Event } from '../event.js';
import { illegal } from '../fence.js';
import type { Job } from '../job.js';
import type { StepIndex } from '../step-log.js';
import { effectDecisionWait } from '../wait.js';
import { findEntry } from './settle-effect.js';

/**
 * An operator decides what became of an effect that its job is parked on. The verdict settles the entry in the same
 * commit that ends the wait, so nothing can come between them; a result that is stored beats it.
 *
 * `fail` leaves the entry unknown: the worker that resumes the job finds it decided and unsettled, and gives up.
 */
export function resolveEffect(job: Job, command: ResolveEffect, steps: StepIndex): Decision {
  const { now, actor, step, occurrence, entry, verdict, storedResult } = command;
  if (job.status !== 'waiting') return illegal(job, 'unblocked');
  const { key } = effectDecisionWait(command);
  const wait = job.waits.find((open) => open.key === key);
  if (!wait) return reject('WAIT_NOT_OPEN', { key });
  const found = findEntry(command, steps);
  if (!found.ok) return found;

  const ref = { at: now, actor, step, occurrence, entry };
  const completed: Event = {
    type: 'wait.completed',
    at: now,
    actor,
    wait,
    outcome: 'received',
    payload: null,
  };
  if (storedResult !== null)
    return accept({ type: 'effect.recorded', ...ref, result: storedResult }, completed);
  if (verdict.kind === 'fail') return accept(completed);
  const result = verdict.kind === 'happened' ? verdict.result : null;
  return accept({ type: 'effect.reconciled', ...ref, verdict: verdict.kind, result }, completed);
}
