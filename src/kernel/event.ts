import type { Failure } from './failure.js';
import type { Actor, DeadLetter, InterruptedReason, JobSpec, WorkerRef } from './job.js';
import type { JsonText, Timestamp } from './payload.js';
import type { ChildRef } from './step.js';
import type { StepRef } from './step-ref.js';
import type { Wait, WaitOutcome } from './wait.js';

type Stamp = { readonly at: Timestamp; readonly actor: Actor };

export type JobCreated = Stamp & {
  readonly type: 'job.created';
  readonly spec: JobSpec;
  readonly input: JsonText;
};
export type JobPromoted = Stamp & { readonly type: 'job.promoted' };
export type JobSucceeded = Stamp & { readonly type: 'job.succeeded'; readonly result: JsonText };
export type JobFailed = Stamp & { readonly type: 'job.failed' };
export type JobCancelled = Stamp & { readonly type: 'job.cancelled'; readonly reason: string | null };

export type AttemptStarted = Stamp & {
  readonly type: 'attempt.started';
  readonly attemptId: string;
  readonly worker: WorkerRef;
};
/** The attempt failed and another will follow. A final failure is written as `dlq.entered` instead. */
export type AttemptFailed = Stamp & {
  readonly type: 'attempt.failed';
  readonly failure: Failure;
  readonly retryCount: number;
  readonly nextRetryAt: Timestamp;
};
export type AttemptInterrupted = Stamp & {
  readonly type: 'attempt.interrupted';
  readonly reason: InterruptedReason;
};

/** `waits` are those that begin here. Earlier ones that are still open stay so. */
export type WaitBegun = Stamp & { readonly type: 'wait.begun'; readonly waits: readonly Wait[] };
export type WaitCompleted = Stamp & {
  readonly type: 'wait.completed';
  readonly wait: Wait;
  readonly outcome: WaitOutcome;
  readonly payload: JsonText | null;
};

export type DlqEntered = Stamp & {
  readonly type: 'dlq.entered';
  readonly from: DeadLetter['from'];
  readonly reason: DeadLetter['reason'];
  readonly failure: Failure;
};
export type DlqRecorded = Stamp & { readonly type: 'dlq.recorded'; readonly dlqId: string };

export type StepRecorded = Stamp &
  StepRef & { readonly type: 'step.recorded'; readonly startedAt: Timestamp; readonly output: JsonText };
/** One try of a step failed. `nextTryAt` is null when the step gave up and its failure went to the handler. */
export type StepFailed = Stamp &
  StepRef & {
    readonly type: 'step.failed';
    readonly startedAt: Timestamp;
    readonly tries: number;
    readonly failure: Failure;
    readonly nextTryAt: Timestamp | null;
  };

type EffectEntry = Stamp & StepRef & { readonly entry: number };

/** The body is about to be entered. From here on the outcome is unknown until something says otherwise. */
export type EffectIntended = EffectEntry & {
  readonly type: 'effect.intended';
  readonly tool: string;
  readonly effectKey: string;
  readonly input: JsonText;
};
export type EffectRecorded = EffectEntry & { readonly type: 'effect.recorded'; readonly result: JsonText };
/** The body failed in a way that proves that nothing happened outside: a new entry may run. */
export type EffectClosed = EffectEntry & { readonly type: 'effect.closed'; readonly failure: Failure };
/** The body threw, which says nothing about what happened outside. */
export type EffectUnknown = EffectEntry & { readonly type: 'effect.unknown'; readonly failure: Failure };
/** `reconcile` or an operator answered for an entry of unknown outcome. `result` is set when it happened. */
export type EffectReconciled = EffectEntry & {
  readonly type: 'effect.reconciled';
  readonly verdict: 'happened' | 'notHappened' | 'cannotTell';
  readonly result: JsonText | null;
};

/** A child job is to be started; the wait for its end begins with it, though the handler may go on for now. */
export type ChildStarted = Stamp & {
  readonly type: 'child.started';
  readonly wait: Wait;
  readonly child: ChildRef;
};

/** Where a long loop stands. `occurrences` lets later steps keep the numbers they would have had. */
export type CheckpointSaved = Stamp & {
  readonly type: 'checkpoint.saved';
  readonly state: JsonText;
  readonly occurrences: Readonly<Record<string, number>>;
};

export type Event =
  | JobCreated
  | JobPromoted
  | JobSucceeded
  | JobFailed
  | JobCancelled
  | AttemptStarted
  | AttemptFailed
  | AttemptInterrupted
  | WaitBegun
  | WaitCompleted
  | DlqEntered
  | DlqRecorded
  | StepRecorded
  | StepFailed
  | EffectIntended
  | EffectRecorded
  | EffectClosed
  | EffectUnknown
  | EffectReconciled
  | ChildStarted
  | CheckpointSaved;

export type EventType = Event['type'];
export type EventOf<T extends EventType> = Extract<Event, { readonly type: T }>;

/** One commit of one job: all its events, in order. The pair (jobId, rev) is the log's key and its fence. */
export type Commit = { readonly jobId: string; readonly rev: number; readonly events: readonly Event[] };
