import { toJsonText } from '../engine/json-text.js';
import { DEFAULT_SETTINGS, newJob, type Judge, type NewJob, type StartOptions } from '../engine/new-job.js';
import { bucketOfKey } from '../kernel/index.js';
import type { ApiRequest } from './route.js';

export type StartRequest = Omit<StartOptions, 'tenantId'> & {
  readonly task: string;
  readonly payload: unknown;
  readonly concurrencyKey?: string | null;
  readonly judge?: Judge;
};

type From = Pick<ApiRequest<unknown, unknown, unknown>, 'engine' | 'tasks' | 'caller' | 'newId' | 'header'>;

/**
 * A job as a request asks for it. Where this process knows the task, its settings and its schema count; a task that it
 * does not know is left to the workers that do, with the settings that every task has by default.
 */
export async function newJobOf(
  { engine, tasks, caller, newId, header }: From,
  { task, payload, concurrencyKey, judge, ...options }: StartRequest,
): Promise<NewJob> {
  const { tenantId } = caller;
  const what = `the payload of '${task}'`;
  const definition = tasks.get(task);
  const { idempotencyKey: key, scope = null } = options;
  // Drawn before anything is waited for, so that the ids of a request that is repeated come in the same order.
  const jobId = options.jobId ?? newId(key === undefined ? undefined : bucketOfKey({ tenantId, scope, key }));
  const read = definition
    ? await definition.readInput(payload ?? null, what)
    : { text: toJsonText(payload, what), value: null };
  const traceparent = header('traceparent');
  const job = newJob(engine, definition ?? { ...DEFAULT_SETTINGS, name: task }, {
    input: read.text,
    concurrencyKey: concurrencyKey ?? definition?.concurrency?.key(read.value) ?? null,
    options: {
      ...(traceparent === undefined ? {} : { traceparent }),
      ...options,
      tenantId,
      jobId,
    },
  });
  return { ...job, idIsOwn: options.jobId === undefined, ...(judge ? { judge } : {}) };
}
