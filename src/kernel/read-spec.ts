import * as field from './field.js';
import {
  RECOVERY_POLICIES,
  SCHEDULE_TYPES,
  type ContinuedRef,
  type FiringRef,
  type JobSpec,
  type ParentRef,
} from './job.js';
import * as is from './shape.js';
import { traceOf, USUAL } from './usual.js';
import { SIGNAL_KEY } from './wait.js';

const parent = is.object<ParentRef>((it) => ({
  jobId: field.jobId(it.jobId),
  step: field.stepName(it.step),
  occurrence: field.ordinal(it.occurrence),
}));
const firing = is.object<FiringRef>((it) => ({
  scheduleId: field.id(it.scheduleId),
  fireAt: is.timestamp(it.fireAt),
}));
const continued = is.object<ContinuedRef>((it) => ({
  jobId: field.jobId(it.jobId),
  origin: field.jobId(it.origin),
}));
const versionName = is.text(100);
const anyPriority = is.integer({ min: -1_000_000, max: 1_000_000 });
const traceContext = is.text(200);
const span = is.duration({ min: 1 });
const signalKeys = is.list(is.matching(SIGNAL_KEY), { min: 0, max: 1_000 });
/** A concurrency key may be empty: the job then counts for its tenant only. */
const keyOrNone: is.Read<string> = (value) => (value === '' ? '' : field.key(value));

/** What stands for fields that are not written out. A command writes out all of them. */
type Absences = {
  readonly object: typeof is.object;
  /** Null, or also that it is not there. */
  readonly may: <T>(read: is.Read<T>) => is.Read<T | null>;
  readonly usually: <T>(read: is.Read<T>, usual: T) => is.Read<T>;
  readonly orJobId: (read: is.Read<string>) => (value: unknown, jobId: string) => string;
  readonly traceId: (value: unknown, jobId: string) => string;
};

function specWith({ object, may, usually, orJobId, traceId }: Absences): is.Read<JobSpec> {
  const tenantId = usually(field.tenantId, USUAL.tenantId);
  const version = may(versionName);
  const taskId = orJobId(field.id);
  const attemptBase = usually(field.count, USUAL.attemptBase);
  const queue = usually(field.queue, USUAL.queue);
  const priority = usually(anyPriority, USUAL.priority);
  const idempotencyKey = orJobId(field.key);
  const scope = may(field.key);
  const traceparent = may(traceContext);
  const scheduleType = usually(is.oneOf(...SCHEDULE_TYPES), USUAL.scheduleType);
  const time = may(is.timestamp);
  const timeout = may(span);
  const retry = usually(field.retryPolicy, USUAL.retry);
  const recovery = usually(is.oneOf(...RECOVERY_POLICIES), USUAL.recovery);
  const maxRecoveries = usually(field.limit, USUAL.maxRecoveries);
  const signals = may(signalKeys);
  const concurrencyKey = may(keyOrNone);
  const parentRef = may(parent);
  const firedBy = may(firing);
  const requeuedFrom = may(field.id);
  const continues = may(continued);
  return object<JobSpec>((it) => {
    const jobId = field.jobId(it.jobId);
    return {
      jobId,
      tenantId: tenantId(it.tenantId),
      task: field.task(it.task),
      version: version(it.version),
      taskId: taskId(it.taskId, jobId),
      attemptBase: attemptBase(it.attemptBase),
      queue: queue(it.queue),
      priority: priority(it.priority),
      inputHash: field.hash(it.inputHash),
      idempotencyKey: idempotencyKey(it.idempotencyKey, jobId),
      idempotencyScope: scope(it.idempotencyScope),
      traceId: traceId(it.traceId, jobId),
      traceparent: traceparent(it.traceparent),
      scheduleType: scheduleType(it.scheduleType),
      scheduledAt: is.timestamp(it.scheduledAt),
      deadlineAt: time(it.deadlineAt),
      timeoutMs: timeout(it.timeoutMs),
      stepTimeoutMs: timeout(it.stepTimeoutMs),
      retry: retry(it.retry),
      recovery: recovery(it.recovery),
      maxRecoveries: maxRecoveries(it.maxRecoveries),
      signals: signals(it.signals),
      concurrencyKey: concurrencyKey(it.concurrencyKey),
      parent: parentRef(it.parent),
      firedBy: firedBy(it.firedBy),
      requeuedFrom: requeuedFrom(it.requeuedFrom),
      continues: continues(it.continues),
    };
  });
}

function usualTrace(list: readonly unknown[], jobId: string): string {
  const [drawn] = list;
  if (list.length !== 1 || typeof drawn !== 'string') throw new is.Misfit('');
  return field.key(traceOf(jobId, drawn));
}

/** As a command brings it. What is fit for a job's id is fit for all that may be named like it, and need not be looked at twice. */
export const jobSpec = specWith({
  object: is.object,
  may: is.nullable,
  usually: (read) => read,
  orJobId: (read) => (value, jobId) => (value === jobId ? jobId : read(value)),
  traceId: field.key,
});

/** As it stands in the log, where nulls and what is usual are left out. */
export const storedSpec = specWith({
  object: is.sparse,
  may: is.optional,
  usually: (read, usual) => (value) => (value === undefined ? usual : read(value)),
  orJobId: (read) => (value, jobId) => (value === undefined ? jobId : read(value)),
  traceId: (value, jobId) => (Array.isArray(value) ? usualTrace(value, jobId) : field.key(value)),
});

type TaskFields = Pick<
  JobSpec,
  'version' | 'queue' | 'priority' | 'timeoutMs' | 'stepTimeoutMs' | 'recovery' | 'maxRecoveries' | 'signals'
> & { readonly name: JobSpec['task'] };

/** What a task says about every job of it. */
export const taskFields = is.object<TaskFields>((it) => ({
  name: field.task(it.name),
  version: is.nullable(versionName)(it.version),
  queue: field.queue(it.queue),
  priority: anyPriority(it.priority),
  timeoutMs: is.nullable(span)(it.timeoutMs),
  stepTimeoutMs: is.nullable(span)(it.stepTimeoutMs),
  recovery: is.oneOf(...RECOVERY_POLICIES)(it.recovery),
  maxRecoveries: field.limit(it.maxRecoveries),
  signals: is.nullable(signalKeys)(it.signals),
}));
