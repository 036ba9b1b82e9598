import { DEFAULT_MAX_RECOVERIES, DEFAULT_RETRY, type JobSpec } from '../kernel/index.js';

/** The moment at which the samples begin. */
export const T0 = 1_772_020_800_000; // 2026-02-25T12:00:00Z

/** A plain job that is due at once. */
export function aJobSpec(overrides: Partial<JobSpec> = {}): JobSpec {
  return {
    jobId: 'job_00000001',
    tenantId: 'acme',
    task: 'order',
    version: null,
    taskId: 'task_0001',
    attemptBase: 0,
    queue: 'default',
    priority: 0,
    inputHash: 'hash-of-input',
    idempotencyKey: 'order_1001',
    idempotencyScope: null,
    traceId: 'trace-1',
    traceparent: null,
    scheduleType: 'at',
    scheduledAt: T0,
    deadlineAt: null,
    timeoutMs: null,
    stepTimeoutMs: null,
    retry: DEFAULT_RETRY,
    recovery: 'resume',
    maxRecoveries: DEFAULT_MAX_RECOVERIES,
    signals: null,
    concurrencyKey: null,
    parent: null,
    firedBy: null,
    requeuedFrom: null,
    continues: null,
    ...overrides,
  };
}
