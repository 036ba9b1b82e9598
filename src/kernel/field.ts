import { ERROR_CLASSES, type Failure } from './failure.js';
import { JOB_ID } from './job-id.js';
import {
  RECOVERY_POLICIES,
  SCHEDULE_TYPES,
  type JobSpec,
  type FiringRef,
  type ParentRef,
  type WorkerRef,
} from './job.js';
import type { RetryPolicy } from './retry-policy.js';
import * as is from './shape.js';
import type { ChildRef } from './step.js';
import { STEP_NAME, type StepRef } from './step-ref.js';
import { SIGNAL_KEY, WAIT_KINDS, type Wait } from './wait.js';

/** Names and ids. With scope and key they fit one row of a B-tree, even where every character takes four bytes. */
export const name = is.text(200);
export const id = is.text(200);
export const tenantId = is.text(100);
export const key = is.text(255);

/** The whole vocabulary of who may cause something. */
export const actor = is.matching(
  /^(?:client|scheduler|recovery|(?:worker|operator):[^\u0000-\u001f\u007f]{1,200})$/,
);
export const jobId = is.matching(JOB_ID);
export const count = is.integer({ min: 0, max: 1_000_000_000 });
export const ordinal = is.integer({ min: 1, max: 1_000_000_000 });

export const stepRef: is.Fields<StepRef> = { step: is.matching(STEP_NAME), occurrence: ordinal };

export const worker = is.object<WorkerRef>({ id, incarnation: id });

export const failure = is.object<Failure>({
  code: is.matching(/^[A-Za-z][A-Za-z0-9_.:-]{0,99}$/),
  message: (value) => (typeof value === 'string' && value.length <= 64_000 ? null : ''),
  retryable: is.flag,
  class: is.oneOf(...ERROR_CLASSES),
});

export const retryPolicy = is.object<RetryPolicy>({
  maxRetries: is.integer({ min: 0, max: 1_000_000 }),
  baseMs: is.duration({ min: 0 }),
  maxBackoffMs: is.duration({ min: 0 }),
  jitterMs: is.duration({ min: 0 }),
});

export const child = is.object<ChildRef>({ childId: jobId, task: name, inputHash: is.text(128) });

const waitFields = is.object<Wait>({
  key,
  kind: is.oneOf(...WAIT_KINDS),
  step: is.text(250),
  occurrence: ordinal,
  reason: is.nullable(is.text(1_000)),
  expiresAt: is.nullable(is.timestamp),
});

/** A timer must end. Its key and a child's are the engine's own; what people answer has one that they can send. */
export const wait: is.Check = (value) => {
  const fault = waitFields(value);
  if (fault !== null) return fault;
  const { kind, key: waitKey, expiresAt } = value as Wait;
  if (kind === 'timer' && expiresAt === null) return 'expiresAt';
  const byEngine = waitKey.includes('#');
  if (kind === 'timer' || kind === 'child') return byEngine ? null : 'key';
  const answerable = SIGNAL_KEY.test(waitKey);
  return answerable || (byEngine && kind === 'approval') ? null : 'key';
};

export const jobSpec = is.object<JobSpec>({
  jobId,
  tenantId,
  task: name,
  version: is.nullable(is.text(100)),
  taskId: id,
  attemptBase: count,
  queue: name,
  priority: is.integer({ min: -1_000_000, max: 1_000_000 }),
  inputHash: is.text(128),
  idempotencyKey: key,
  idempotencyScope: is.nullable(key),
  traceId: key,
  traceparent: is.nullable(is.text(200)),
  scheduleType: is.oneOf(...SCHEDULE_TYPES),
  scheduledAt: is.timestamp,
  deadlineAt: is.nullable(is.timestamp),
  timeoutMs: is.nullable(is.duration({ min: 1 })),
  stepTimeoutMs: is.nullable(is.duration({ min: 1 })),
  retry: retryPolicy,
  recovery: is.oneOf(...RECOVERY_POLICIES),
  maxRecoveries: is.integer({ min: 0, max: 1_000_000 }),
  signals: is.nullable(is.list(is.matching(SIGNAL_KEY), { min: 0, max: 1_000 })),
  concurrencyKey: is.nullable(key),
  parent: is.nullable(is.object<ParentRef>({ jobId, ...stepRef })),
  firedBy: is.nullable(is.object<FiringRef>({ scheduleId: id, fireAt: is.timestamp })),
  requeuedFrom: is.nullable(id),
});
