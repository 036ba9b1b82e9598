import type { Job, JobSpec } from './job.js';
import { isTerminal } from './status.js';

/** What a start comes to when something of its identity is already taken. */
export type IdempotencyVerdict =
  | { readonly kind: 'create' }
  | { readonly kind: 'hit'; readonly job: Job }
  | { readonly kind: 'duplicate'; readonly job: Job; readonly conflictFields: readonly ConflictField[] }
  /** Another run of the same task is still live. */
  | { readonly kind: 'active'; readonly job: Job };

export type ConflictField =
  | 'scheduleType'
  | 'scheduledAt'
  | 'timeoutMs'
  | 'maxRetries'
  | 'idempotencyKey'
  | 'taskId'
  | 'task'
  | 'inputHash';

const CREATE: IdempotencyVerdict = { kind: 'create' };

/** The critical fields of a scheduled task. Only those that the request states are compared; the payload never is. */
export type TaskRequest = {
  readonly scheduleType?: JobSpec['scheduleType'];
  readonly scheduledAt?: number;
  readonly timeoutMs?: number | null;
  readonly maxRetries?: number;
};

/** A scheduled task is the same by its own id, or by scope and key; where the two disagree, the id decides. */
export function judgeTaskStart(
  request: TaskRequest,
  { byTaskId, byKey }: { byTaskId: Job | null; byKey: Job | null },
): IdempotencyVerdict {
  const job = byTaskId ?? byKey;
  if (job === null) return CREATE;
  if (byTaskId !== null && byKey !== null && byTaskId.spec.jobId !== byKey.spec.jobId) {
    return { kind: 'duplicate', job, conflictFields: ['idempotencyKey'] };
  }
  const { scheduleType, scheduledAt, timeoutMs, retry } = job.spec;
  return judge(job, request, { scheduleType, scheduledAt, timeoutMs, maxRetries: retry.maxRetries });
}

/** A run is the same by its key, which one task owns. A task has at most one live run. */
export function judgeRunStart(
  request: { readonly taskId: string },
  { byKey, live }: { byKey: Job | null; live: Job | null },
): IdempotencyVerdict {
  if (byKey !== null) return judge(byKey, request, { taskId: byKey.spec.taskId });
  if (live !== null && !isTerminal(live.status)) return { kind: 'active', job: live };
  return CREATE;
}

/** A job is the same by scope and key, if it asks the same task to do the same thing. */
export function judgeJobStart(
  request: { readonly task: string; readonly inputHash: string },
  { byKey }: { byKey: Job | null },
): IdempotencyVerdict {
  if (byKey === null) return CREATE;
  return judge(byKey, request, { task: byKey.spec.task, inputHash: byKey.spec.inputHash });
}

type Critical = Readonly<Partial<Record<ConflictField, string | number | null>>>;

function judge(job: Job, requested: Critical, existing: Critical): IdempotencyVerdict {
  const conflictFields = (Object.keys(existing) as ConflictField[]).filter(
    (field) => requested[field] !== undefined && requested[field] !== existing[field],
  );
  return conflictFields.length === 0 ? { kind: 'hit', job } : { kind: 'duplicate', job, conflictFields };
}
