import { PawlError } from '../errors.js';
import { toMs, type Duration } from '../engine/duration.js';
import { DEFAULT_SETTINGS } from '../engine/new-job.js';
import type { RecoveryPolicy, RetryPolicy } from '../kernel/index.js';
import type { HandlerContext, TaskDefinition } from '../worker/task-definition.js';
import { readInput, readStored } from './read-input.js';
import { retryOf } from './retry-of.js';
import type { StandardSchema } from './standard-schema.js';
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

/**
 * Defines a task: a named handler, run durably. The types of its input come from the schema; without one, from the
 * handler: `async ({ input, step }: HandlerContext<Order>) => …`.
 */
export function task<O = unknown, R = unknown, I = O>(
  options: TaskOptions<I, O>,
  handler: (context: HandlerContext<O>) => R | Promise<R>,
): Task<I, R> {
  const { name, input: schema = null } = options;
  if (typeof name !== 'string' || name.length === 0 || name.length > 200) {
    throw new PawlError('INVALID_OPTION', {
      detail: `a task has the name ${JSON.stringify(name)}, which is not 1 to 200 characters`,
      details: { option: 'name' },
    });
  }
  const duration = (value: Duration | undefined, what: string) =>
    value === undefined ? null : toMs(value, `${what} of task '${name}'`);
  return {
    name,
    definition: {
      ...DEFAULT_SETTINGS,
      name,
      ...given(options, ['version', 'queue', 'priority', 'recovery', 'maxRecoveries', 'signals']),
      retry: retryOf(name, options.retry),
      timeoutMs: duration(options.timeout ?? options.timeoutMs, 'timeout'),
      stepTimeoutMs: duration(options.stepTimeout, 'stepTimeout'),
      deadlineMs: duration(options.deadline, 'deadline'),
      readInput: (value, what) => readInput(schema, value, what),
      readStored: (text, what) => readStored(schema, text, what),
      concurrency: concurrencyOf(name, options.concurrency as Concurrency<unknown> | undefined),
      rate: rateOf(name, options.rateLimit),
      run: handler as TaskDefinition['run'],
    },
  };
}

/** The members that were given; the others keep their defaults. */
function given<T extends object, K extends keyof T>(options: T, names: readonly K[]): Partial<Pick<T, K>> {
  const found: Partial<Pick<T, K>> = {};
  for (const name of names) if (options[name] !== undefined) found[name] = options[name];
  return found;
}
