import type { JsonText } from './payload.js';
import type { EffectStep, Step } from './step.js';

/**
 * What the invocation ledger answers to a worker that is about to enter an effect's body.
 *
 * `Barrier`: the body was entered, its outcome is unknown and whoever entered it is gone. It is never entered
 * again until someone finds out what happened.
 */
export type LedgerAnswer =
  | { readonly verdict: 'AllowExecute'; readonly entry: number }
  | { readonly verdict: 'ReturnRecordedResult'; readonly result: JsonText }
  | { readonly verdict: 'WaitOtherWorker'; readonly owner: string }
  | { readonly verdict: 'Barrier'; readonly entry: number }
  | { readonly verdict: 'Rejected'; readonly code: 'STALE_ATTEMPT' | 'NONDETERMINISM' };

export type LedgerRequest = {
  readonly attemptId: string;
  /** The attempt that holds the job now. */
  readonly currentAttemptId: string | null;
  readonly tool: string;
  readonly effectKey: string;
  /** May the body of the latest entry still be running somewhere? */
  readonly bodyMayRun: boolean;
  /** What the effect store holds for the latest entry. */
  readonly storedResult: JsonText | null;
};

/**
 * Arbitrates between workers. A stored result counts even for an entry that was closed as not having happened: it
 * did, and entering again would make it happen twice. `known` is what the job's history has at this step and occurrence: a different tool or
 * other arguments there mean that the handler has changed, never that a fresh row is due.
 */
export function acquire(known: Step | undefined, request: LedgerRequest): LedgerAnswer {
  if (request.attemptId !== request.currentAttemptId) return { verdict: 'Rejected', code: 'STALE_ATTEMPT' };
  if (known === undefined) return { verdict: 'AllowExecute', entry: 1 };
  if (known.kind !== 'effect' || known.tool !== request.tool || known.effectKey !== request.effectKey) {
    return { verdict: 'Rejected', code: 'NONDETERMINISM' };
  }
  if (known.result !== null) return { verdict: 'ReturnRecordedResult', result: known.result };
  if (request.storedResult !== null) return { verdict: 'ReturnRecordedResult', result: request.storedResult };
  if (known.state === 'closed') return { verdict: 'AllowExecute', entry: known.entry + 1 };
  if (known.state === 'open' && request.bodyMayRun)
    return { verdict: 'WaitOtherWorker', owner: known.attemptId };
  return { verdict: 'Barrier', entry: known.entry };
}

/**
 * What a result means that arrives for an entry, whoever brings it: a known result is never thrown away.
 * `late`: the entry was closed as not having happened, yet it did. It is kept and raised as EFFECT_LATE_RESULT.
 */
export function admitResult(effect: EffectStep, { entry }: { entry: number }): 'first' | 'repeated' | 'late' {
  if (entry < effect.entry || effect.state === 'closed') return 'late';
  return effect.result === null ? 'first' : 'repeated';
}

/** The text whose SHA-256 is an effect's key. `args` must be canonical JSON, so that equal arguments give equal keys. */
export function effectKeyText({
  jobId,
  stepKey,
  tool,
  args,
}: {
  jobId: string;
  stepKey: string;
  tool: string;
  args: string;
}): string {
  return JSON.stringify([jobId, stepKey, tool, args]);
}
