import { PawlError } from '../errors.js';
import { ruleOf } from '../engine/spec-rules.js';
import { DEFAULT_RETRY, pathOf, readRetryPolicy, type RetryPolicy } from '../kernel/index.js';

/** What a task says about retries, and the defaults for what it does not. Throws INVALID_OPTION for what no job could have. */
export function retryOf(task: string, retry: Partial<RetryPolicy> = {}): RetryPolicy {
  const policy: RetryPolicy = { ...DEFAULT_RETRY, ...retry };
  try {
    return readRetryPolicy(policy);
  } catch (thrown) {
    const option = `retry.${pathOf(thrown)}`;
    const rule = ruleOf(`spec.${option}`);
    const given: unknown = policy[pathOf(thrown) as keyof RetryPolicy];
    const problem = rule ? `${rule}, and is ${String(given)}` : 'is nothing that there is';
    throw new PawlError('INVALID_OPTION', {
      detail: `${option} of task '${task}' ${problem}`,
      details: { option },
    });
  }
}
