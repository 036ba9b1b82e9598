import { defined } from '../engine/defined.js';
import { toMs, type Duration } from '../engine/duration.js';
import { DEFAULT_SETTINGS } from '../engine/new-job.js';
import * as is from '../engine/option-checks.js';
import { invalidOption, Options, shown } from '../engine/options.js';
import { readRetry } from '../engine/retry-options.js';
import { expectFit } from '../engine/spec-rules.js';
import { readTaskFields, type RecoveryPolicy, type RetryPolicy } from '../kernel/index.js';
import type { HandlerContext, TaskDefinition } from '../worker/task-definition.js';
import { readInput, readStored } from './read-input.js';
import { schema, type StandardSchema } from './standard-schema.js';
import { concurrencyOf, rateOf, type Concurrency, type TaskRate } from './task-limits.js';

export type TaskOptions<I, O> = {
  /** What jobs of this task are known by, for ever. */
  readonly name: string;
  /** Any Standard Schema. Without one the input is taken as it is. */
  readonly input?: StandardSchema<I, O>;
  /** Jobs keep the version that they were started with, and only workers that know it run them. */
  readonly version?: string;
  readonly queue?: string;
  /** Higher goes first. */
  readonly priority?: number;
  readonly retry?: Partial<RetryPolicy>;
  /** Start to close of one attempt; waits do not count. */
  readonly timeout?: Duration;
  readonly timeoutMs?: number;
  /** Bounds one step, unless the step says otherwise. */
  readonly stepTimeout?: Duration;
  /** Bounds the whole job, waits and retries included. */
  readonly deadline?: Duration;
  /** What becomes of a job whose worker vanished. */
  readonly recovery?: RecoveryPolicy;
  readonly maxRecoveries?: number;
  /** The only signals that jobs of this task accept. Without it they accept all. */
  readonly signals?: readonly string[];
  /** How many of its jobs run at once: of those with the same key, of one tenant's, or both. */
  readonly concurrency?: Concurrency<O>;
  /** How many of its jobs are begun within a period, by all workers together. Retries and wake-ups count too. */
  readonly rateLimit?: TaskRate;
};

/** A task with the types of what goes in and what comes out. */
export type Task<I, R> = {
  readonly name: string;
  readonly definition: TaskDefinition;
  readonly '~types'?: { input: I; output: R };
};

/** A task of whatever types. */
export type AnyTask = Pick<Task<unknown, unknown>, 'name' | 'definition'>;

const TASK = new Options<TaskOptions<unknown, unknown>>({
  name: is.required(is.text),
  input: schema,
  version: is.elsewhere,
  queue: is.elsewhere,
  priority: is.elsewhere,
  retry: is.elsewhere,
  timeout: is.duration,
  timeoutMs: is.duration,
  stepTimeout: is.duration,
  deadline: is.duration,
  recovery: is.elsewhere,
  maxRecoveries: is.elsewhere,
  signals: is.elsewhere,
  concurrency: is.elsewhere,
  rateLimit: is.elsewhere,
});

/**
 * Defines a task: a named handler, run durably. The types of its input come from the schema; without one, from the
 * handler: `async ({ input, step }: HandlerContext<Order>) => …`.
 */
export function task<O = unknown, R = unknown, I = O>(
  options: TaskOptions<I, O>,
  handler: (context: HandlerContext<O>) => R | Promise<R>,
): Task<I, R> {
  const whose = typeof options?.name === 'string' ? `task '${options.name}'` : 'task()';
  TASK.expect(options, whose);
  const { name, input: inputSchema = null, retry = {} } = options;
  const { version, queue, priority, recovery, maxRecoveries, signals } = options;
  if (typeof handler !== 'function') {
    throw invalidOption('handler', `the handler of ${whose} is ${shown(handler)}, which is no function`);
  }
  const ms = (value: Duration | undefined, what: string) =>
    value === undefined ? null : toMs(value, `${what} of ${whose}`);
  const { retry: defaults, deadlineMs: _none, ...usual } = DEFAULT_SETTINGS;
  const fields = {
    ...usual,
    ...defined({ version, queue, priority, recovery, maxRecoveries, signals }),
    name,
    timeoutMs: ms(options.timeout ?? options.timeoutMs, 'timeout'),
    stepTimeoutMs: ms(options.stepTimeout, 'stepTimeout'),
  };
  return {
    name,
    definition: {
      ...expectFit(readTaskFields, fields, whose),
      retry: readRetry(retry, { defaults, whose }),
      deadlineMs: ms(options.deadline, 'deadline'),
      readInput: (value, what) => readInput(inputSchema, value, what),
      readStored: (stored, what) => readStored(inputSchema, stored, what),
      concurrency: concurrencyOf(name, options.concurrency as Concurrency<unknown> | undefined),
      rate: rateOf(name, options.rateLimit),
      run: handler as TaskDefinition['run'],
    },
  };
}
