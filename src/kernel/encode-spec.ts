import type { JobSpec } from './job.js';
import type { Timestamp } from './payload.js';
import type { RetryPolicy } from './retry-policy.js';
import { traceOf, USUAL } from './usual.js';

/**
 * A job's spec as JSON, letter by letter: without nulls, without what is usual, and without the job's id and the time of its creation
 * where they stand for another. A log keeps every spec for years, and most of most specs is one of these. An id holds nothing that JSON
 * would escape.
 */
export function encodeSpec(spec: JobSpec, createdAt: Timestamp): string {
  const { jobId, inputHash, scheduledAt } = spec;
  const due = scheduledAt === createdAt ? '' : `,"scheduledAt":${scheduledAt}`;
  return `{"jobId":"${jobId}"${named(spec)},"inputHash":${quote(inputHash)},"traceId":${encodeTrace(spec)}${due}${sharedText(spec)}}`;
}

/** A text as JSON has it. */
export const quote = (text: string): string => JSON.stringify(text);

function encodeTrace({ jobId, traceId }: JobSpec): string {
  const usual = traceOf(jobId, '');
  return traceId.startsWith(usual) ? `[${quote(traceId.slice(usual.length))}]` : quote(traceId);
}

/** What most jobs have nothing of, and the others each for itself. */
function named(spec: JobSpec): string {
  let text = '';
  if (spec.taskId !== spec.jobId) text += `,"taskId":${quote(spec.taskId)}`;
  if (spec.idempotencyKey !== spec.jobId) text += `,"idempotencyKey":${quote(spec.idempotencyKey)}`;
  if (spec.traceparent !== null) text += `,"traceparent":${quote(spec.traceparent)}`;
  if (spec.deadlineAt !== null) text += `,"deadlineAt":${spec.deadlineAt}`;
  if (spec.concurrencyKey !== null) text += `,"concurrencyKey":${quote(spec.concurrencyKey)}`;
  if (spec.parent !== null) text += `,"parent":${JSON.stringify(spec.parent)}`;
  if (spec.firedBy !== null) text += `,"firedBy":${JSON.stringify(spec.firedBy)}`;
  if (spec.requeuedFrom !== null) text += `,"requeuedFrom":${quote(spec.requeuedFrom)}`;
  if (spec.continues !== null) text += `,"continues":${JSON.stringify(spec.continues)}`;
  return text;
}

let last: { readonly spec: JobSpec; readonly text: string } | null = null;

/** What the jobs of a task have in common: they come a thousand times in a row, and are put together once. */
function sharedText(spec: JobSpec): string {
  if (last === null || !haveInCommon(spec, last.spec)) last = { spec, text: encodeShared(spec) };
  return last.text;
}

const haveInCommon = (one: JobSpec, other: JobSpec): boolean =>
  one.task === other.task &&
  one.tenantId === other.tenantId &&
  one.version === other.version &&
  one.queue === other.queue &&
  one.priority === other.priority &&
  one.attemptBase === other.attemptBase &&
  one.idempotencyScope === other.idempotencyScope &&
  one.scheduleType === other.scheduleType &&
  one.timeoutMs === other.timeoutMs &&
  one.stepTimeoutMs === other.stepTimeoutMs &&
  one.recovery === other.recovery &&
  one.maxRecoveries === other.maxRecoveries &&
  one.signals === other.signals &&
  isSame(one.retry, other.retry);

const isSame = (one: RetryPolicy, other: RetryPolicy): boolean =>
  one.maxRetries === other.maxRetries &&
  one.baseMs === other.baseMs &&
  one.maxBackoffMs === other.maxBackoffMs &&
  one.jitterMs === other.jitterMs;

function encodeShared(spec: JobSpec): string {
  let text = `,"task":${quote(spec.task)}`;
  if (spec.tenantId !== USUAL.tenantId) text += `,"tenantId":${quote(spec.tenantId)}`;
  if (spec.version !== null) text += `,"version":${quote(spec.version)}`;
  if (spec.queue !== USUAL.queue) text += `,"queue":${quote(spec.queue)}`;
  if (spec.priority !== USUAL.priority) text += `,"priority":${spec.priority}`;
  if (spec.attemptBase !== USUAL.attemptBase) text += `,"attemptBase":${spec.attemptBase}`;
  if (spec.idempotencyScope !== null) text += `,"idempotencyScope":${quote(spec.idempotencyScope)}`;
  if (spec.scheduleType !== USUAL.scheduleType) text += `,"scheduleType":"${spec.scheduleType}"`;
  if (spec.timeoutMs !== null) text += `,"timeoutMs":${spec.timeoutMs}`;
  if (spec.stepTimeoutMs !== null) text += `,"stepTimeoutMs":${spec.stepTimeoutMs}`;
  if (spec.recovery !== USUAL.recovery) text += `,"recovery":"${spec.recovery}"`;
  if (spec.maxRecoveries !== USUAL.maxRecoveries) text += `,"maxRecoveries":${spec.maxRecoveries}`;
  if (spec.signals !== null) text += `,"signals":${JSON.stringify(spec.signals)}`;
  if (!isSame(spec.retry, USUAL.retry)) text += `,"retry":${JSON.stringify(spec.retry)}`;
  return text;
}
