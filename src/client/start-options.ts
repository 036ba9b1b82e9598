import type { StartOptions } from '../engine/new-job.js';
import * as is from '../engine/option-checks.js';
import { invalidOption, kindOf, Options } from '../engine/options.js';
import { expectTask } from './made-things.js';

/** `tx`: a `pg` client with an open transaction on the same database. The job exists if and when it commits. */
export type StartWith = StartOptions & { readonly tx?: unknown };
/** One of many. */
export type StartOne<I> = { readonly input: I; readonly options?: StartOptions };

/** What they may be, the kernel knows. */
const CHECKS = {
  jobId: is.string,
  taskId: is.string,
  tenantId: is.elsewhere,
  delay: is.duration,
  runAt: is.elsewhere,
  queue: is.elsewhere,
  priority: is.elsewhere,
  idempotencyKey: is.string,
  scope: is.string,
  traceId: is.elsewhere,
  traceparent: is.elsewhere,
  deadline: is.duration,
  maxRetries: is.elsewhere,
  timeoutMs: is.orNull(is.elsewhere),
};
const START = new Options<StartOptions>(CHECKS);
const START_WITH = new Options<StartWith>({ ...CHECKS, tx: is.elsewhere });
const START_ONE = new Options<StartOne<unknown>>({ input: is.elsewhere, options: is.elsewhere });
const START_MANY = new Options<{ readonly tx?: unknown }>({ tx: is.elsewhere });

/** A start by itself, as one of many, and the transaction that it belongs to. */
export function oneStart<I>(task: unknown, input: I, options: StartWith): [readonly StartOne<I>[], unknown] {
  expectTask(task, 'start()');
  START_WITH.expect(options, 'start()');
  const { tx, ...rest } = options;
  return [[{ input, options: rest }], tx];
}

/** Looks at what is to be started before any of it is. */
export function expectStarts(task: unknown, jobs: unknown, options: unknown): void {
  expectTask(task, 'startMany()');
  START_MANY.expect(options, 'startMany()');
  if (!Array.isArray(jobs))
    throw invalidOption('jobs', `startMany() takes a list of jobs, and got ${kindOf(jobs)}`);
  jobs.forEach((job: unknown, index) => {
    START_ONE.expect(job, 'startMany()', `[${index}].`);
    const { options: said } = job as StartOne<unknown>;
    if (said !== undefined) START.expect(said, 'startMany()', `[${index}].options.`);
  });
}
