import type { Failure } from './failure.js';
import type { JsonText, Timestamp } from './payload.js';
import type { WorkerRef } from './job.js';
import type { Wait, WaitOutcome } from './wait.js';

export type RunStep = {
  readonly kind: 'run';
  readonly tries: number;
  /** Null until the step's result is recorded; then it never changes. */
  readonly output: JsonText | null;
  readonly failure: Failure | null;
  readonly nextTryAt: Timestamp | null;
  /** The attempt in which it last failed. A failure holds for its own attempt; a later one starts afresh. */
  readonly failedInAttempt: number | null;
};

/**
 * A row of the invocation ledger. Entries are numbered: a new one exists only where the one before was closed.
 *
 * open: the body was entered · unknown: it threw · closed: it provably did not happen · committed: it did.
 */
export type EffectStep = {
  readonly kind: 'effect';
  readonly tool: string;
  readonly effectKey: string;
  readonly entry: number;
  readonly state: 'open' | 'unknown' | 'closed' | 'committed';
  readonly attemptId: string;
  readonly worker: WorkerRef;
  readonly intendedAt: Timestamp;
  readonly input: JsonText;
  readonly result: JsonText | null;
  /** What the latest entry threw, if it did, and in which attempt: it holds for that attempt, as a step's does. */
  readonly failure: Failure | null;
  readonly failedInAttempt: number | null;
};

/** The child job that a step started. */
export type ChildRef = { readonly childId: string; readonly task: string; readonly inputHash: string };

export type WaitStep = {
  readonly kind: 'wait';
  readonly wait: Wait;
  /** Set where the wait is for a child. */
  readonly child: ChildRef | null;
  readonly outcome: WaitOutcome | null;
  readonly payload: JsonText | null;
};

export type Step = RunStep | EffectStep | WaitStep;
