import { readRetryPolicy, type RetryPolicy } from '../kernel/index.js';
import { defined } from './defined.js';
import * as is from './option-checks.js';
import { Options } from './options.js';
import { expectFit } from './spec-rules.js';

const RETRY = new Options<RetryPolicy>({
  maxRetries: is.elsewhere,
  baseMs: is.elsewhere,
  maxBackoffMs: is.elsewhere,
  jitterMs: is.elsewhere,
});

/** What is said about retries, and the defaults for what is not. Throws INVALID_OPTION for what no job could have. */
export function readRetry(
  asked: Partial<RetryPolicy>,
  { defaults, whose }: { defaults: RetryPolicy; whose: string },
): RetryPolicy {
  RETRY.expect(asked, whose, 'retry.');
  return expectFit(readRetryPolicy, { ...defaults, ...defined(asked) }, whose, 'retry.');
}
