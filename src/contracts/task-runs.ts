import {
  attemptOf,
  attemptRecordsOf,
  type Actor,
  type AttemptRecord,
  type Change,
  type Job,
  type Status,
} from '../kernel/index.js';
import { attemptShown, eventIdOf, statusChangesOf, statusesShownAs, type Contract } from './contract.js';
import type { Machine } from './machine.js';
import { utc, utcOrNull } from './utc.js';

export type RunStatus =
  | 'queued'
  | 'running'
  | 'retry_scheduled'
  | 'interrupted'
  | 'succeeded'
  | 'failed'
  | 'cancelled';

const machine: Machine<RunStatus> = {
  states: ['queued', 'running', 'retry_scheduled', 'interrupted', 'succeeded', 'failed', 'cancelled'],
  edges: [
    { from: null, to: 'queued' },
    { from: 'queued', to: 'running', trigger: 'worker_claim' },
    { from: 'queued', to: 'cancelled', trigger: 'cancel_command' },
    { from: 'running', to: 'succeeded', trigger: 'completed' },
    { from: 'running', to: 'failed', trigger: 'non_retryable_error' },
    { from: 'running', to: 'retry_scheduled', trigger: 'retryable_error' },
    { from: 'running', to: 'interrupted', trigger: 'process_restart' },
    { from: 'running', to: 'cancelled', trigger: 'cancel_command' },
    { from: 'retry_scheduled', to: 'running', trigger: 'retry_due' },
    { from: 'retry_scheduled', to: 'cancelled', trigger: 'cancel_command' },
    { from: 'interrupted', to: 'running', trigger: 'recovery_resume' },
    { from: 'interrupted', to: 'failed', trigger: 'recovery_abort' },
    { from: 'interrupted', to: 'cancelled', trigger: 'cancel_command' },
  ],
};

const STATUS: Readonly<Record<Status, RunStatus>> = {
  scheduled: 'queued',
  queued: 'queued',
  running: 'running',
  waiting: 'running',
  unblocked: 'running',
  retrying: 'retry_scheduled',
  interrupted: 'interrupted',
  dlq_pending: 'running',
  dlq_recorded: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Task runs: lifecycle and recovery. A run is one job; its `task_id` is the piece of work that runs belong to. */
export const taskRuns: Contract<RunStatus> = {
  name: 'task-runs',
  resource: '/api/v1/task-runs',
  machine,
  project(job) {
    const inDlq = job.status === 'dlq_pending' || job.status === 'dlq_recorded';
    return inDlq && job.deadLetter?.from === 'interrupted' ? 'interrupted' : STATUS[job.status];
  },
  statusesOf: (state) => statusesShownAs(STATUS, state, { interrupted: ['dlq_pending', 'dlq_recorded'] }),
};

export type RunView = {
  readonly run_id: string;
  readonly task_id: string;
  readonly run_status: RunStatus;
  readonly attempt: number;
  readonly idempotency_key: string;
  readonly next_retry_at: string | null;
  readonly error_code: string | null;
  readonly trace_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
};

export function runView(job: Job): RunView {
  return {
    run_id: job.spec.jobId,
    task_id: job.spec.taskId,
    run_status: taskRuns.project(job),
    attempt: job.spec.attemptBase + attemptOf(job),
    idempotency_key: job.spec.idempotencyKey,
    next_retry_at: utcOrNull(job.nextRetryAt),
    error_code: errorCodeOf(job),
    trace_id: job.spec.traceId,
    created_at: utc(job.createdAt),
    updated_at: utc(job.updatedAt),
    started_at: utcOrNull(job.startedAt),
    finished_at: utcOrNull(job.finishedAt),
  };
}

export type RunStatusChanged = {
  readonly type: 'run.status.changed';
  readonly event_id: string;
  readonly trace_id: string;
  readonly occurred_at: string;
  readonly payload: {
    readonly run_id: string;
    readonly task_id: string;
    readonly previous_status: RunStatus | null;
    readonly status: RunStatus;
    readonly attempt: number;
    readonly idempotency_key: string;
    readonly next_retry_at: string | null;
    readonly error_code: string | null;
    readonly actor: Actor;
  };
};

export function runEvents(changes: readonly Change[]): RunStatusChanged[] {
  return statusChangesOf(taskRuns, changes).map(({ from, to, change }) => {
    const { event, after } = change;
    return {
      type: 'run.status.changed',
      event_id: eventIdOf(change),
      trace_id: after.spec.traceId,
      occurred_at: utc(event.at),
      payload: {
        run_id: after.spec.jobId,
        task_id: after.spec.taskId,
        previous_status: from,
        status: to,
        attempt: after.spec.attemptBase + attemptShown(change),
        idempotency_key: after.spec.idempotencyKey,
        next_retry_at: utcOrNull(after.nextRetryAt),
        error_code: errorCodeOf(after),
        actor: event.actor,
      },
    };
  });
}

export type RunAttempt = {
  readonly task_id: string;
  readonly attempt: number;
  readonly idempotency_key: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly outcome: AttemptRecord['outcome'];
  readonly error_code: string | null;
};

/** The attempts of a run, numbered over all runs of its task. */
export function runAttempts(changes: readonly Change[]): RunAttempt[] {
  const spec = changes[0]?.after.spec;
  if (!spec) return [];
  return attemptRecordsOf(changes).map((record) => ({
    task_id: spec.taskId,
    attempt: spec.attemptBase + record.attempt,
    idempotency_key: record.idempotencyKey,
    started_at: utc(record.startedAt),
    ended_at: utcOrNull(record.endedAt),
    outcome: record.outcome,
    error_code: record.errorCode,
  }));
}

/** The error that the run's state speaks of; a run that goes on has none. */
function errorCodeOf(job: Job): string | null {
  switch (taskRuns.project(job)) {
    case 'interrupted':
      return 'PROCESS_RESTARTED';
    case 'retry_scheduled':
    case 'failed':
      return job.failure && job.failure.code;
    default:
      return null;
  }
}
