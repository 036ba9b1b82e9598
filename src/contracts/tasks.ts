import {
  attemptOf,
  type Change,
  type ConflictField,
  type Job,
  type ScheduleType,
  type Status,
} from '../kernel/index.js';
import { attemptShown, eventIdOf, statusChangesOf, statusesShownAs, type Contract } from './contract.js';
import type { Machine } from './machine.js';
import { utc, utcOrNull } from './utc.js';

export type TaskState = 'pending' | 'ready' | 'running' | 'succeeded' | 'failed' | 'cancelled';

const machine: Machine<TaskState> = {
  states: ['pending', 'ready', 'running', 'succeeded', 'failed', 'cancelled'],
  edges: [
    { from: null, to: 'pending' },
    { from: 'pending', to: 'ready' },
    { from: 'ready', to: 'running' },
    { from: 'running', to: 'succeeded' },
    { from: 'running', to: 'failed' },
    { from: 'running', to: 'ready', trigger: 'retry' },
    { from: 'pending', to: 'cancelled' },
    { from: 'ready', to: 'cancelled' },
    { from: 'running', to: 'cancelled' },
  ],
};

const STATE: Readonly<Record<Status, TaskState>> = {
  scheduled: 'pending',
  queued: 'ready',
  running: 'running',
  waiting: 'running',
  unblocked: 'running',
  retrying: 'ready',
  interrupted: 'running',
  dlq_pending: 'running',
  dlq_recorded: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Scheduled tasks. Here `task_id` names the task itself. */
export const tasks: Contract<TaskState> = {
  name: 'tasks',
  resource: '/api/v1/tasks',
  machine,
  project: (job) => STATE[job.status],
  statusesOf: (state) => statusesShownAs(STATE, state),
};

export type TaskView = {
  readonly task_id: string;
  readonly schedule_type: ScheduleType;
  readonly state: TaskState;
  readonly attempt: number;
  readonly max_retries: number;
  readonly timeout_ms: number | null;
  readonly idempotency_key: string;
  readonly last_error_code: string | null;
  readonly last_error_reason: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
};

export function taskView(job: Job): TaskView {
  const error = lastErrorOf(job);
  return {
    task_id: job.spec.taskId,
    schedule_type: job.spec.scheduleType,
    state: tasks.project(job),
    attempt: attemptOf(job),
    max_retries: job.spec.retry.maxRetries,
    timeout_ms: job.spec.timeoutMs,
    idempotency_key: job.spec.idempotencyKey,
    last_error_code: error.code,
    last_error_reason: error.reason,
    created_at: utc(job.createdAt),
    updated_at: utc(job.updatedAt),
    started_at: utcOrNull(job.startedAt),
    finished_at: utcOrNull(job.finishedAt),
  };
}

/** The answer to a start that found its task already there. */
export function idempotentHit(job: Job): { readonly idempotent_hit: true; readonly task: TaskView } {
  return { idempotent_hit: true, task: taskView(job) };
}

export type TaskDuplicate = {
  readonly code: 'TASK_DUPLICATE';
  readonly reason: string;
  readonly conflict_fields: readonly string[];
  readonly task: TaskView;
};

export function taskDuplicate(job: Job, conflicts: readonly ConflictField[]): TaskDuplicate {
  const conflict_fields = conflicts.map((field) => CONFLICT_FIELD[field]);
  return {
    code: 'TASK_DUPLICATE',
    reason: `task ${job.spec.taskId} exists with other values of ${conflict_fields.join(', ')}`,
    conflict_fields,
    task: taskView(job),
  };
}

/** What the critical fields are called outside. */
export const CONFLICT_FIELD: Readonly<Record<ConflictField, string>> = {
  scheduleType: 'schedule_type',
  scheduledAt: 'scheduled_at',
  timeoutMs: 'timeout_ms',
  maxRetries: 'max_retries',
  idempotencyKey: 'idempotency_key',
  taskId: 'task_id',
  task: 'job_type',
  inputHash: 'payload',
};

export type TaskStateChanged = {
  readonly type: 'task_state_changed';
  readonly source: 'gateway.scheduler';
  readonly session_key: 'scheduler:default';
  readonly event_id: string;
  readonly payload: {
    readonly task_id: string;
    readonly from_state: TaskState;
    readonly to_state: TaskState;
    readonly occurred_at: string;
    readonly attempt: number;
    readonly reason_code: string | null;
    readonly reason_message: string | null;
    readonly idempotent_hit: false;
  };
};

/** Creation is no event here: a task that is due at once begins with pending → ready. */
export function taskEvents(changes: readonly Change[]): TaskStateChanged[] {
  return statusChangesOf(tasks, changes).flatMap(({ from, to, change }) => {
    if (from === null) return [];
    const failed = to === 'failed' || (from === 'running' && to === 'ready');
    const error = failed ? lastErrorOf(change.after) : NO_ERROR;
    return [
      {
        type: 'task_state_changed',
        source: 'gateway.scheduler',
        session_key: 'scheduler:default',
        event_id: eventIdOf(change),
        payload: {
          task_id: change.after.spec.taskId,
          from_state: from,
          to_state: to,
          occurred_at: utc(change.event.at),
          attempt: attemptShown(change),
          reason_code: error.code,
          reason_message: error.reason,
          idempotent_hit: false,
        },
      },
    ];
  });
}

type LastError = { readonly code: string | null; readonly reason: string | null };
const NO_ERROR: LastError = { code: null, reason: null };

/** Retries that ran out hide the error underneath in this contract; while some are left, it shows. */
function lastErrorOf({ failure, deadLetter }: Job): LastError {
  if (failure === null) return NO_ERROR;
  if (deadLetter?.reason !== 'exhausted') return { code: failure.code, reason: failure.message };
  return { code: 'TASK_RETRY_EXHAUSTED', reason: `${failure.message} exhausted retries` };
}
