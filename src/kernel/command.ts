import type { Failure } from './failure.js';
import type { Actor, JobSpec, WorkerRef } from './job.js';
import type { JsonText, Timestamp } from './payload.js';
import type { RetryPolicy } from './retry-policy.js';
import type { ChildRef } from './step.js';
import type { StepRef } from './step-ref.js';
import type { Wait, WaitOutcome } from './wait.js';

/** Time and chance arrive in commands: `now` is the store's clock, ids were drawn by the caller. */
type Base = { readonly now: Timestamp; readonly actor: Actor };
/** A command that only the lease holder may give. */
type Held = Base & { readonly attemptId: string };
type HeldEntry = Held & StepRef & { readonly entry: number };

export type Create = Base & { readonly type: 'create'; readonly spec: JobSpec; readonly input: JsonText };
export type Promote = Base & { readonly type: 'promote' };
/** Takes the lease: a first claim, a retry, a recovery or the end of a wait, by the state it finds. */
export type Claim = Base & {
  readonly type: 'claim';
  readonly attemptId: string;
  readonly worker: WorkerRef;
  /** An operator's claim, which does not wait for the due time. */
  readonly early: boolean;
};
/** Asks whether the attempt still holds the job. The lease itself lives with the worker (`worker-lease`). */
export type Heartbeat = Held & { readonly type: 'heartbeat' };
export type Complete = Held & { readonly type: 'complete'; readonly result: JsonText };
export type FailAttempt = Held & { readonly type: 'fail-attempt'; readonly failure: Failure };
export type TimeOut = Held & { readonly type: 'time-out' };

export type BeginWait = Held & { readonly type: 'begin-wait'; readonly waits: readonly Wait[] };
/** The holder takes what already lies in the inbox, without leaving `running`. */
export type ConsumeWait = Held & {
  readonly type: 'consume-wait';
  readonly wait: Wait;
  readonly outcome: Exclude<WaitOutcome, 'deadline'>;
  readonly payload: JsonText | null;
};
/** What a waiting job waited for has arrived: a child's end, a message, an approval. */
export type CompleteWait = Base & {
  readonly type: 'complete-wait';
  readonly key: string;
  readonly payload: JsonText | null;
};
export type ExpireWaits = Base & { readonly type: 'expire-waits' };
/** `received`: the inbox already holds this key. */
export type Signal = Base & {
  readonly type: 'signal';
  readonly key: string;
  readonly payload: JsonText;
  readonly received: boolean;
};

/**
 * Why the lease is over, with the evidence. `leaseUntil` null: the worker's incarnation is dead or unknown.
 * `worker`: the same worker id, back with another incarnation.
 */
export type InterruptCause =
  | { readonly reason: 'lease_expired'; readonly leaseUntil: Timestamp | null }
  | { readonly reason: 'worker_restarted'; readonly worker: WorkerRef }
  | { readonly reason: 'drained' };
export type Interrupt = Held & { readonly type: 'interrupt'; readonly cause: InterruptCause };
export type AbortRecovery = Base & { readonly type: 'abort-recovery' };
export type Cancel = Base & { readonly type: 'cancel'; readonly reason: string | null };
export type ForceFail = Base & { readonly type: 'force-fail'; readonly reason: string };
/** `attemptId` and `worker`: the holder's own while running, else those of the claim that ends the job. */
export type ExpireDeadline = Base & {
  readonly type: 'expire-deadline';
  readonly attemptId: string;
  readonly worker: WorkerRef;
};

type HeldStep = Held & StepRef & { readonly startedAt: Timestamp };
export type RecordStep = HeldStep & { readonly type: 'record-step'; readonly output: JsonText };
export type FailStep = HeldStep & {
  readonly type: 'fail-step';
  readonly failure: Failure;
  readonly retry: RetryPolicy;
};

/** What the store knows about the latest entry of an effect. */
export type EntryFacts = {
  /** The incarnation that entered the body is alive and has not reported that the body ended. */
  readonly bodyMayRun: boolean;
  readonly storedResult: JsonText | null;
};
export type BeginEffect = Held &
  StepRef &
  EntryFacts & {
    readonly type: 'begin-effect';
    readonly tool: string;
    readonly effectKey: string;
    readonly input: JsonText;
  };
export type RecordEffect = HeldEntry & { readonly type: 'record-effect'; readonly result: JsonText };
export type CloseEffect = HeldEntry & { readonly type: 'close-effect'; readonly failure: Failure };
export type DoubtEffect = HeldEntry & { readonly type: 'doubt-effect'; readonly failure: Failure };
export type EffectVerdict =
  | { readonly kind: 'happened'; readonly result: JsonText }
  | { readonly kind: 'notHappened' }
  | { readonly kind: 'cannotTell' };
export type ReconcileEffect = HeldEntry &
  EntryFacts & {
    readonly type: 'reconcile-effect';
    readonly verdict: EffectVerdict;
    /** How old the intent must be before its outcome is asked for. */
    readonly settleMs: number;
  };
/** An operator decides for a job that is parked on an effect of unknown outcome; `fail` gives the job up. */
export type ResolveEffect = Base &
  StepRef & {
    readonly type: 'resolve-effect';
    readonly entry: number;
    readonly storedResult: JsonText | null;
    readonly verdict:
      | { readonly kind: 'happened'; readonly result: JsonText }
      | { readonly kind: 'notHappened' }
      | { readonly kind: 'fail' };
  };

/** Starts a child job, whose end the job will wait for. The child's id follows from the step. */
export type StartChild = Held & {
  readonly type: 'start-child';
  readonly wait: Wait;
  readonly child: ChildRef;
};

export type SaveCheckpoint = Held & { readonly type: 'save-checkpoint'; readonly state: JsonText };

export type Command =
  | Create
  | Promote
  | Claim
  | Heartbeat
  | Complete
  | FailAttempt
  | TimeOut
  | BeginWait
  | ConsumeWait
  | CompleteWait
  | ExpireWaits
  | Signal
  | Interrupt
  | AbortRecovery
  | Cancel
  | ForceFail
  | ExpireDeadline
  | RecordStep
  | FailStep
  | BeginEffect
  | RecordEffect
  | CloseEffect
  | DoubtEffect
  | ReconcileEffect
  | ResolveEffect
  | StartChild
  | SaveCheckpoint;

export type CommandType = Command['type'];
export type CommandOf<T extends CommandType> = Extract<Command, { readonly type: T }>;
