import type { CloseEffect, DoubtEffect, RecordEffect } from '../command.js';
import { accept, reject, type Decision, type Rejected } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import type { EffectStep } from '../step.js';
import { stepKey, type StepRef } from '../step-ref.js';
import type { StepIndex } from '../step-log.js';

type EntryRef = StepRef & { readonly entry: number };

/**
 * Commits an entry's result: by the worker that ran it, or by a later one that found the result stored. A result may
 * turn up even for an entry that was closed as not having happened; as long as no other was entered, it counts.
 */
export function recordEffect(job: Job, command: RecordEffect, steps: StepIndex): Decision {
  const { now, actor, attemptId, step, occurrence, entry, result } = command;
  const refused = refuseUnlessHeld(job, { attemptId, to: 'running' });
  if (refused) return refused;
  const found = findLatestEntry(command, steps);
  if (!found.ok) return found;
  return accept({ type: 'effect.recorded', at: now, actor, step, occurrence, entry, result });
}

/** The body proved that nothing happened outside. Only whoever ran it can know that. */
export function closeEffect(job: Job, command: CloseEffect, steps: StepIndex): Decision {
  const { now, actor, step, occurrence, entry, failure } = command;
  const found = findOwn(job, command, steps);
  if (!found.ok) return found;
  return accept({ type: 'effect.closed', at: now, actor, step, occurrence, entry, failure });
}

/** The body threw and nobody knows what happened outside: the barrier is down until someone finds out. */
export function doubtEffect(job: Job, command: DoubtEffect, steps: StepIndex): Decision {
  const { now, actor, step, occurrence, entry, failure } = command;
  const found = findOwn(job, command, steps);
  if (!found.ok) return found;
  return accept({ type: 'effect.unknown', at: now, actor, step, occurrence, entry, failure });
}

type Found = { readonly ok: true; readonly effect: EffectStep } | Rejected;

/** The entry that the holder names, as long as neither a result nor a verdict has settled it. */
export function findHeldEntry(
  job: Job,
  ref: EntryRef & { readonly attemptId: string },
  steps: StepIndex,
): Found {
  return refuseUnlessHeld(job, { attemptId: ref.attemptId, to: 'running' }) ?? findEntry(ref, steps);
}

export function findEntry(ref: EntryRef, steps: StepIndex): Found {
  const found = findLatestEntry(ref, steps);
  if (found.ok && found.effect.state === 'closed') {
    return reject('EFFECT_ENTRY_CLOSED', { step: stepKey(ref), entry: ref.entry });
  }
  return found;
}

function findLatestEntry(ref: EntryRef, steps: StepIndex): Found {
  const effect = steps.get(ref);
  if (effect?.kind !== 'effect') {
    return reject('NONDETERMINISM', {
      step: stepKey(ref),
      recorded: effect?.kind ?? null,
      requested: 'effect',
    });
  }
  if (effect.state === 'committed') return reject('EFFECT_RECORDED', { step: stepKey(ref) });
  if (effect.entry !== ref.entry)
    return reject('EFFECT_ENTRY_CLOSED', { step: stepKey(ref), entry: ref.entry });
  return { ok: true, effect };
}

function findOwn(job: Job, ref: EntryRef & { readonly attemptId: string }, steps: StepIndex): Found {
  const found = findHeldEntry(job, ref, steps);
  if (!found.ok) return found;
  if (found.effect.attemptId !== ref.attemptId || found.effect.state === 'unknown') {
    return reject('EFFECT_BARRIER', { step: stepKey(ref), entry: ref.entry });
  }
  return found;
}
