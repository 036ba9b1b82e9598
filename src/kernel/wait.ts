import type { Timestamp } from './payload.js';
import type { StepRef } from './step-ref.js';

export const WAIT_KINDS = ['signal', 'timer', 'child', 'approval', 'message'] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

/**
 * How a wait ended: something arrived, its timer ran out, it expired first, or the job's own deadline
 * passed over it.
 */
export const WAIT_OUTCOMES = ['received', 'elapsed', 'timeout', 'deadline'] as const;
export type WaitOutcome = (typeof WAIT_OUTCOMES)[number];

export type Wait = {
  /** The correlation key, unique within the job for ever. */
  readonly key: string;
  readonly kind: WaitKind;
  readonly step: string;
  readonly occurrence: number;
  readonly reason: string | null;
  readonly expiresAt: Timestamp | null;
};

/**
 * Keys that a caller may signal. They hold no `#`, which every key that the engine makes for itself
 * (timers, children, operator decisions) does: a signal can never complete one of those.
 */
export const SIGNAL_KEY = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** Names the timer with which a step waits before it goes on: until it is tried again, or what became of it can be asked. */
export const PAUSE_PREFIX = '$pause:';

/**
 * The wait that an effect of unknown outcome parks its job on: one decision for each entry, by an operator.
 * It is a step of its own beside the effect that it decides; `$` marks the names that the engine gives to steps.
 */
export function effectDecisionWait({ step, occurrence, entry }: StepRef & { readonly entry: number }): Wait {
  return {
    key: `effect:${step}#${occurrence}/${entry}`,
    kind: 'approval',
    step: `$decision:${step}/${occurrence}`,
    occurrence: entry,
    reason: 'effect_unknown',
    expiresAt: null,
  };
}

/**
 * The entry that a wait asks an operator to decide on; null for every other wait. Only `resolve-effect` ends such a
 * wait: no signal, message or worker can stand in for the operator.
 */
export function decidedEntry({ key }: Wait): (StepRef & { readonly entry: number }) | null {
  const parts = /^effect:(.+)#(\d+)\/(\d+)$/.exec(key);
  return parts && { step: `${parts[1]}`, occurrence: Number(parts[2]), entry: Number(parts[3]) };
}

/**
 * The wait that a job parks on whose handler no longer follows its history. `rev` makes each parking a new one.
 * An operator completes it once the right code runs again.
 */
export function nondeterminismWait({ rev }: { rev: number }): Wait {
  return {
    key: `nondeterminism#${rev}`,
    kind: 'approval',
    step: '$nondeterminism',
    occurrence: rev,
    reason: 'nondeterminism',
    expiresAt: null,
  };
}
