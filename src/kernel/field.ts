import { ERROR_CLASSES, type Failure } from './failure.js';
import { JOB_ID } from './job-id.js';
import type { WorkerRef } from './job.js';
import type { RetryPolicy } from './retry-policy.js';
import * as is from './shape.js';
import type { ChildRef } from './step.js';
import { STEP_NAME } from './step-ref.js';
import { SIGNAL_KEY, WAIT_KINDS, type Wait } from './wait.js';

/**
 * Names and ids. With scope and key they fit one row of a B-tree, even where every character takes four bytes. Each reader
 * knows the last text that it has read, so what stays the same from job to job has one of its own.
 */
const nameOrId = (): is.Read<string> => is.text(200);
export const name = nameOrId();
export const task = nameOrId();
export const queue = nameOrId();
export const id = nameOrId();
const workerId = nameOrId();
const incarnation = nameOrId();
export const tenantId = is.text(100);
export const key = is.text(255);

const ACTOR = /^(?:client|scheduler|recovery|(?:worker|operator):[^\u0000-\u001f\u007f\ud800-\udfff]+)$/u;
/** The whole vocabulary of who may cause something. Every command has one: a single look at it (bench/kernel.ts). */
export const actor = is.text(220, ACTOR);

export const jobId = is.matching(JOB_ID);
export const count = is.integer({ min: 0, max: 1_000_000_000 });
export const ordinal = is.integer({ min: 1, max: 1_000_000_000 });

export const stepName = is.text(200, STEP_NAME);

export const worker = is.object<WorkerRef>((it) => ({
  id: workerId(it.id),
  incarnation: incarnation(it.incarnation),
}));

const failureCode = is.matching(/^[A-Za-z][A-Za-z0-9_.:-]{0,99}$/);
const errorClass = is.oneOf(...ERROR_CLASSES);
/** Any text, within bounds: what user code said is not ours to refuse. */
const failureMessage: is.Read<string> = (value) => {
  if (typeof value === 'string' && value.length <= 64_000) return value;
  throw new is.Misfit('');
};
export const failure = is.object<Failure>((it) => ({
  code: failureCode(it.code),
  message: failureMessage(it.message),
  retryable: is.flag(it.retryable),
  class: errorClass(it.class),
}));

export const limit = is.integer({ min: 0, max: 1_000_000 });
const delay = is.duration({ min: 0 });
export const retryPolicy = is.object<RetryPolicy>((it) => ({
  maxRetries: limit(it.maxRetries),
  baseMs: delay(it.baseMs),
  maxBackoffMs: delay(it.maxBackoffMs),
  jitterMs: delay(it.jitterMs),
}));

export const hash = is.text(128);
export const child = is.object<ChildRef>((it) => ({
  childId: jobId(it.childId),
  task: task(it.task),
  inputHash: hash(it.inputHash),
}));

export const reason = is.text(1_000);
export const nullableReason = is.nullable(reason);
export const nullableTime = is.nullable(is.timestamp);

const waitKind = is.oneOf(...WAIT_KINDS);
const waitStep = is.text(250);
const waitFields = is.object<Wait>((it) => ({
  key: key(it.key),
  kind: waitKind(it.kind),
  step: waitStep(it.step),
  occurrence: ordinal(it.occurrence),
  reason: nullableReason(it.reason),
  expiresAt: nullableTime(it.expiresAt),
}));

/** A timer must end. Its key and a child's are the engine's own; what people answer has one that they can send. */
export const wait: is.Read<Wait> = (value) => {
  const read = waitFields(value);
  if (read.kind === 'timer' && read.expiresAt === null) throw new is.Misfit('expiresAt');
  const byEngine = read.key.includes('#');
  const sound =
    read.kind === 'timer' || read.kind === 'child'
      ? byEngine
      : SIGNAL_KEY.test(read.key) || (byEngine && read.kind === 'approval');
  if (!sound) throw new is.Misfit('key');
  return read;
};
