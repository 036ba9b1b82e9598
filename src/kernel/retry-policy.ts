import { hash32 } from './hash32.js';

export type RetryPolicy = {
  /** Retries after the first attempt. 0 means that the first failure is final. */
  readonly maxRetries: number;
  readonly baseMs: number;
  readonly maxBackoffMs: number;
  /** Upper end of the jitter, inclusive. It is added after the cap, so that capped retries still spread out. */
  readonly jitterMs: number;
};

export const DEFAULT_RETRY: RetryPolicy = {
  maxRetries: 3,
  baseMs: 1_000,
  maxBackoffMs: 30_000,
  jitterMs: 300,
};

/**
 * Crashes in a row, without a newly recorded step, that a job survives. Lower gives up on jobs that were only
 * unlucky during a bad deploy; higher lets a poison job take down more workers.
 */
export const DEFAULT_MAX_RECOVERIES = 5;

/** Beyond this the cap has long been reached; without it a base of 0 would become 0 × ∞, which is no number. */
const MOST_DOUBLINGS = 52;

/**
 * The wait before retry number `retryCount` (from 1) of what `seed` names.
 *
 * The jitter is a function of its arguments and not of chance, so replaying a log reproduces every delay.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  { seed, retryCount }: { seed: string; retryCount: number },
): number {
  const doublings = Math.min(retryCount - 1, MOST_DOUBLINGS);
  const backoffMs = Math.min(policy.maxBackoffMs, policy.baseMs * 2 ** doublings);
  const jitterMs = hash32(`${seed}:${retryCount}`) % (policy.jitterMs + 1);
  return backoffMs + jitterMs;
}
