import { PawlError } from '../errors.js';
import { toMs, type Duration } from '../engine/duration.js';
import * as is from '../engine/option-checks.js';
import { invalidOption, Options } from '../engine/options.js';
import type { TaskDefinition } from '../worker/task-definition.js';

/**
 * `limit` jobs with the same key run at once, for each tenant apart; a null key is not limited. `perTenant` jobs of one
 * tenant do, whatever their keys. Jobs that were started before a limit was given are not counted by it.
 */
export type Concurrency<O> =
  | { readonly key: (input: O) => string | null; readonly limit: number; readonly perTenant?: number }
  | { readonly key?: never; readonly limit?: never; readonly perTenant: number };

/** `perTenant`: so many for each tenant, instead of for all of them together. */
export type TaskRate = { readonly limit: number; readonly per: Duration; readonly perTenant?: boolean };

const CONCURRENCY = new Options<Concurrency<unknown>>({
  key: is.func,
  limit: is.whole(1),
  perTenant: is.whole(1),
});
const RATE = new Options<TaskRate>({
  limit: is.required(is.whole(1)),
  per: is.required(is.duration),
  perTenant: is.flag,
});

export function concurrencyOf(
  task: string,
  concurrency: Concurrency<unknown> | undefined,
): TaskDefinition['concurrency'] {
  if (concurrency === undefined) return null;
  CONCURRENCY.expect(concurrency, `task '${task}'`, 'concurrency.');
  const { key, limit, perTenant } = concurrency;
  if ((key === undefined) !== (limit === undefined) || (key === undefined && perTenant === undefined)) {
    throw invalidOption(
      'concurrency',
      `the concurrency of task '${task}' takes a key together with its limit, or perTenant, or all of them`,
    );
  }
  const none = perTenant === undefined ? null : '';
  const keyOf = (input: unknown): string | null => {
    try {
      return key?.(input) || none;
    } catch (cause) {
      const problem = cause instanceof Error ? cause.message : String(cause);
      throw new PawlError('INVALID_INPUT', {
        detail: `the concurrency key of task '${task}' cannot be told from its input: ${problem}`,
        details: { option: 'concurrency.key' },
        cause,
      });
    }
  };
  return { key: keyOf, limit: limit ?? null, perTenant: perTenant ?? null };
}

export function rateOf(task: string, rate: TaskRate | undefined): TaskDefinition['rate'] {
  if (rate === undefined) return null;
  RATE.expect(rate, `task '${task}'`, 'rateLimit.');
  const { limit, perTenant = false } = rate;
  const perMs = toMs(rate.per, `rateLimit.per of task '${task}'`);
  if (perMs > 0) return { limit, perMs, perTenant };
  throw invalidOption('rateLimit.per', `rateLimit.per of task '${task}' is 0, which is no time above 0`);
}
