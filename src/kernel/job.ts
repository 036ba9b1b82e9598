import type { Failure } from './failure.js';
import type { JsonText, Timestamp } from './payload.js';
import type { RetryPolicy } from './retry-policy.js';
import type { Status } from './status.js';
import type { Wait } from './wait.js';

export const SCHEDULE_TYPES = ['at', 'every', 'cron', 'daily'] as const;
export type ScheduleType = (typeof SCHEDULE_TYPES)[number];

export const RECOVERY_POLICIES = ['resume', 'abort'] as const;
export type RecoveryPolicy = (typeof RECOVERY_POLICIES)[number];

export const INTERRUPTED_REASONS = ['lease_expired', 'worker_restarted', 'drained'] as const;
export type InterruptedReason = (typeof INTERRUPTED_REASONS)[number];

export const DEAD_LETTER_REASONS = [
  'non_retryable',
  'exhausted',
  'abandoned',
  'deadline',
  'recovery_aborted',
] as const;
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** Who caused a change: `worker:<id>`, `scheduler`, `recovery`, `operator:<key id>` or `client`. */
export type Actor = string;

/** A worker process. A restart keeps the id, if one was set, and brings a new incarnation; those sort by time. */
export type WorkerRef = { readonly id: string; readonly incarnation: string };

/** The step of a parent job that started this one. */
export type ParentRef = { readonly jobId: string; readonly step: string; readonly occurrence: number };

/** One firing of a schedule. The pair is unique, so that a firing makes one job. */
export type FiringRef = { readonly scheduleId: string; readonly fireAt: Timestamp };

/**
 * The job before, whose record this one goes on with: what it recorded is not done again. `origin` is the first in such a row: effects
 * keep the keys that they would have there, so that receivers know them again.
 */
export type ContinuedRef = { readonly jobId: string; readonly origin: string };

/** What was asked for. Fixed when the job is created. */
export type JobSpec = {
  readonly jobId: string;
  readonly tenantId: string;
  /** The handler's name. */
  readonly task: string;
  /** The handler's version, if it declares one: only workers that know it claim the job. */
  readonly version: string | null;
  /** The piece of work this job belongs to. Several jobs may share one, never two live ones. */
  readonly taskId: string;
  /** Attempts spent by earlier jobs of the same `taskId`. */
  readonly attemptBase: number;
  readonly queue: string;
  /** Higher goes first. */
  readonly priority: number;
  readonly inputHash: string;
  readonly idempotencyKey: string;
  readonly idempotencyScope: string | null;
  readonly traceId: string;
  /** The W3C trace context of whoever started the job. */
  readonly traceparent: string | null;
  readonly scheduleType: ScheduleType;
  readonly scheduledAt: Timestamp;
  /** Bounds the whole job, waits and retries included. */
  readonly deadlineAt: Timestamp | null;
  /** Start-to-close of one attempt. Runs only while the job is leased. */
  readonly timeoutMs: number | null;
  readonly stepTimeoutMs: number | null;
  readonly retry: RetryPolicy;
  readonly recovery: RecoveryPolicy;
  readonly maxRecoveries: number;
  /** Correlation keys that the task accepts; null accepts all. */
  readonly signals: readonly string[] | null;
  readonly concurrencyKey: string | null;
  readonly parent: ParentRef | null;
  /** The schedule, and the moment of its firing, that this job came from. */
  readonly firedBy: FiringRef | null;
  /** The dead-letter item that this job was requeued from. */
  readonly requeuedFrom: string | null;
  readonly continues: ContinuedRef | null;
};

export type DeadLetter = {
  readonly from: Extract<Status, 'running' | 'retrying' | 'interrupted'>;
  readonly reason: DeadLetterReason;
  /** Null only between two events of the commit that dead-letters the job. */
  readonly dlqId: string | null;
};

/** A job as the fold of its events. Steps are kept apart (`StepLog`), so that this stays small. */
export type Job = {
  readonly spec: JobSpec;
  readonly input: JsonText;
  /** Commits so far. The log's key is (jobId, rev). */
  readonly rev: number;
  readonly status: Status;
  readonly retryCount: number;
  /** Crashes since the last newly recorded step. */
  readonly recoveryCount: number;
  /** The latest claim. It stays when the lease ends: `fenced` says whether its writes still count. */
  readonly attemptId: string | null;
  /** The latest attempt has lost its lease: whatever it still writes is stale. */
  readonly fenced: boolean;
  /** The lease holder. */
  readonly worker: WorkerRef | null;
  readonly claimedAt: Timestamp | null;
  /** Time under lease that this attempt spent before its latest claim. */
  readonly leasedMs: number;
  readonly nextRetryAt: Timestamp | null;
  /** Waits that have begun and not completed. They stay open while the job runs, if something else woke it. */
  readonly waits: readonly Wait[];
  readonly interruptedReason: InterruptedReason | null;
  /** The commit of the latest checkpoint: replay may begin there. */
  readonly checkpointRev: number | null;
  readonly deadLetter: DeadLetter | null;
  /** The latest failure; null again once the job succeeds. */
  readonly failure: Failure | null;
  readonly result: JsonText | null;
  readonly createdAt: Timestamp;
  readonly startedAt: Timestamp | null;
  readonly finishedAt: Timestamp | null;
  readonly updatedAt: Timestamp;
};

/** The number of the current attempt, from 1. Derived, so that it can never disagree with the retry count. */
export function attemptOf(job: Job): number {
  return 1 + job.retryCount;
}

/** The idempotency key of the current execution, as its attempt record and its handler see it. */
export function attemptKeyOf(job: Job): string {
  return `${job.spec.jobId}:${job.retryCount}`;
}

/** Whose id is in the keys of a job's effects: its own, unless it goes on with what another has begun. */
export function originOf({ jobId, continues }: Pick<JobSpec, 'jobId' | 'continues'>): string {
  return continues?.origin ?? jobId;
}

/** Blocked on people only: every open wait is for a signal, approval or message, and none of them expires. */
export function isParked(job: Job): boolean {
  return (
    job.status === 'waiting' &&
    job.waits.every((wait) => wait.expiresAt === null && wait.kind !== 'timer' && wait.kind !== 'child')
  );
}
