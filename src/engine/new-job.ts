import { PawlError } from '../errors.js';
import {
  bucketOfKey,
  BUCKETS,
  canonicalJson,
  DEFAULT_MAX_RECOVERIES,
  DEFAULT_RETRY,
  traceOf,
  type IdempotencyVerdict,
  type Job,
  type JobSpec,
  type JsonText,
  type ParentRef,
  type RecoveryPolicy,
  type RetryPolicy,
} from '../kernel/index.js';
import type { Identity, NewOutboxEntry } from '../ports/store.js';
import { toMs, type Duration } from './duration.js';
import type { Engine } from './engine.js';
import { sha256 } from './sha256.js';

export const DEFAULT_TENANT = 'default';
export const DEFAULT_QUEUE = 'default';

/** What a task says about its jobs. */
export type TaskSettings = {
  readonly name: string;
  readonly version: string | null;
  readonly queue: string;
  readonly priority: number;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number | null;
  readonly stepTimeoutMs: number | null;
  readonly deadlineMs: number | null;
  readonly recovery: RecoveryPolicy;
  readonly maxRecoveries: number;
  readonly signals: readonly string[] | null;
};

export const DEFAULT_SETTINGS: Omit<TaskSettings, 'name'> = {
  version: null,
  queue: DEFAULT_QUEUE,
  priority: 0,
  retry: DEFAULT_RETRY,
  timeoutMs: null,
  stepTimeoutMs: null,
  deadlineMs: null,
  recovery: 'resume',
  maxRecoveries: DEFAULT_MAX_RECOVERIES,
  signals: null,
};

/** What a start may say about its one job. */
export type StartOptions = {
  readonly jobId?: string;
  /** The piece of work that the job belongs to, unique within the tenant. */
  readonly taskId?: string;
  readonly tenantId?: string;
  readonly delay?: Duration;
  readonly runAt?: Date | number;
  readonly queue?: string;
  /** Higher goes first. */
  readonly priority?: number;
  readonly idempotencyKey?: string;
  readonly scope?: string;
  readonly traceId?: string;
  readonly traceparent?: string;
  /** Bounds the whole job, waits and retries included. */
  readonly deadline?: Duration;
  /** Instead of what the task says. */
  readonly maxRetries?: number;
  readonly timeoutMs?: number | null;
};

export type NewJob = {
  readonly spec: JobSpec;
  readonly input: JsonText;
  readonly identities: readonly Identity[];
  /** What to make of it if one of these belongs to a job already. Without it, what a plain job makes of it. */
  readonly judge?: Judge;
  /** The id was drawn for this very request, so that a job that has it is the one that the request asked for. */
  readonly idIsOwn?: boolean;
  /** What is sent with its creation. */
  readonly letters?: readonly NewOutboxEntry[];
};

/** Scopes that begin so are the engine's own, as names of steps are: no caller's key can come into one. */
export const OWN_SCOPE = '$';

export type Judge = (found: {
  readonly byKey: Job | null;
  readonly byTaskId: Job | null;
}) => IdempotencyVerdict;

export function newJob(
  engine: Engine,
  task: TaskSettings,
  {
    input,
    concurrencyKey,
    options = {},
    parent = null,
  }: {
    input: JsonText;
    concurrencyKey: string | null;
    options?: StartOptions;
    parent?: (ParentRef & { readonly childId: string }) | null;
  },
): NewJob {
  const { idempotencyKey, scope = null, tenantId = DEFAULT_TENANT, taskId } = options;
  if (scope?.startsWith(OWN_SCOPE)) throw ownScope(scope);
  const now = engine.now();
  const bucket =
    idempotencyKey === undefined
      ? engine.random.int(BUCKETS)
      : bucketOfKey({ tenantId, scope, key: idempotencyKey });
  const jobId = options.jobId ?? parent?.childId ?? engine.newId(bucket);
  const scheduledAt = scheduledAtOf(options, now);
  const deadlineMs = options.deadline === undefined ? task.deadlineMs : toMs(options.deadline, 'deadline');
  const spec: JobSpec = {
    jobId,
    tenantId,
    task: task.name,
    version: task.version,
    taskId: taskId ?? jobId,
    attemptBase: 0,
    queue: options.queue ?? task.queue,
    priority: options.priority ?? task.priority,
    inputHash: sha256(canonicalJson(input)),
    idempotencyKey: idempotencyKey ?? jobId,
    idempotencyScope: scope,
    traceId: options.traceId ?? traceOf(jobId, newUuid(engine)),
    traceparent: options.traceparent ?? null,
    scheduleType: 'at',
    scheduledAt,
    deadlineAt: deadlineMs === null ? null : scheduledAt + deadlineMs,
    timeoutMs: options.timeoutMs === undefined ? task.timeoutMs : options.timeoutMs,
    stepTimeoutMs: task.stepTimeoutMs,
    retry: options.maxRetries === undefined ? task.retry : { ...task.retry, maxRetries: options.maxRetries },
    recovery: task.recovery,
    maxRecoveries: task.maxRecoveries,
    signals: task.signals,
    concurrencyKey,
    parent: parent && { jobId: parent.jobId, step: parent.step, occurrence: parent.occurrence },
    firedBy: null,
    requeuedFrom: null,
    continues: null,
  };
  const identities: Identity[] = [];
  // A key that was made up here belongs to nobody else, and needs no row to say so.
  if (idempotencyKey !== undefined) {
    identities.push({ tenantId, kind: 'key', value: JSON.stringify([scope, idempotencyKey]) });
  }
  if (taskId !== undefined) identities.push({ tenantId, kind: 'task_id', value: taskId });
  return { spec, input, identities };
}

function ownScope(scope: string): PawlError {
  return new PawlError('INVALID_OPTION', {
    detail: `the scope '${scope}' begins with '${OWN_SCOPE}', as those of Pawl itself do`,
    details: { option: 'scope' },
  });
}

function scheduledAtOf({ delay, runAt }: StartOptions, now: number): number {
  if (delay !== undefined && runAt !== undefined) {
    throw new PawlError('INVALID_OPTION', { detail: 'both `delay` and `runAt` are given' });
  }
  if (runAt === undefined) return delay === undefined ? now : now + toMs(delay, 'delay');
  // Neither a number nor a time: of one who writes without types.
  const at = typeof runAt === 'object' ? runAt.getTime?.() : runAt;
  if (Number.isSafeInteger(at) && at >= 0) return at;
  throw new PawlError('INVALID_OPTION', {
    detail: `runAt is ${String(runAt)}, which is no time`,
    details: { option: 'runAt' },
  });
}

/** The hexadecimal digits of every byte: `toString(16)` takes numbers for fractions, which is slow. */
const DIGITS = '0123456789abcdef'.split('');
const BYTES = DIGITS.flatMap((high) => DIGITS.map((low) => high + low));

const quad = (value: number): string => `${BYTES[value >>> 8]}${BYTES[value & 0xff]}`;

/** Version 4, from the Random port. */
export function newUuid({ random }: Pick<Engine, 'random'>): string {
  const drawn = (): string => quad(random.int(0x1_0000));
  const version = quad(0x4000 | random.int(0x1000));
  const variant = quad(0x8000 | random.int(0x4000));
  return `${drawn()}${drawn()}-${drawn()}-${version}-${variant}-${drawn()}${drawn()}${drawn()}`;
}
