import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_RETRY, hash32, retryDelayMs } from './index.js';

const backoffMs = (retryCount: number) => Math.min(30_000, 1_000 * 2 ** (retryCount - 1));

describe('retry delay', () => {
  test('JOB-5 the defaults are 3 retries, base 1000, cap 30000, jitter up to 300', () => {
    expect(DEFAULT_RETRY).toEqual({ maxRetries: 3, baseMs: 1_000, maxBackoffMs: 30_000, jitterMs: 300 });
  });

  test('JOB-5 the delay doubles from the base up to the cap, and jitter is added after the cap', () => {
    const plain = { ...DEFAULT_RETRY, jitterMs: 0 };
    const delays = [1, 2, 3, 4, 5, 6, 7, 60].map((retryCount) =>
      retryDelayMs(plain, { seed: 'j', retryCount }),
    );
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    const capped = Array.from({ length: 50 }, (_, i) =>
      retryDelayMs(DEFAULT_RETRY, { seed: `job-${i}`, retryCount: 9 }),
    );
    expect(Math.max(...capped)).toBeGreaterThan(30_000);
  });

  test('JOB-5 however many retries, the delay is a number', () => {
    for (const baseMs of [0, 1, 9e12]) {
      const delay = retryDelayMs(
        { ...DEFAULT_RETRY, baseMs, jitterMs: 0 },
        { seed: 'j', retryCount: 1_000_000 },
      );
      expect(delay).toBe(Math.min(30_000, baseMs && 30_000));
    }
  });

  test('JOB-5 the jitter stays within 0 and 300', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 40 }), (seed, retryCount) => {
        const jitterMs = retryDelayMs(DEFAULT_RETRY, { seed, retryCount }) - backoffMs(retryCount);
        expect(jitterMs).toBeGreaterThanOrEqual(0);
        expect(jitterMs).toBeLessThanOrEqual(300);
        expect(Number.isInteger(jitterMs)).toBe(true);
      }),
    );
  });

  test('DEC-10 the jitter is the same for the same job and retry, on every machine', () => {
    const delay = (seed: string, retryCount: number) => retryDelayMs(DEFAULT_RETRY, { seed, retryCount });
    expect([delay('job_00000001', 1), delay('job_00000001', 2), delay('job_00000002', 1)]).toEqual(
      GOLDEN_DELAYS,
    );
    expect(delay('job_00000001', 1)).toBe(delay('job_00000001', 1));
  });

  test('DEC-10 different jobs spread over the whole range', () => {
    const seen = new Set(
      Array.from({ length: 5_000 }, (_, i) =>
        retryDelayMs(DEFAULT_RETRY, { seed: `job_${i}`, retryCount: 1 }),
      ),
    );
    expect(seen.size).toBe(301);
  });
});

/** What release 0.1 computes. A change here would make old logs replay to other delays. */
const GOLDEN_DELAYS = [1_058, 2_032, 1_163];

test('hash32 spreads neighbours evenly over buckets', () => {
  const buckets = new Map<number, number>();
  for (let i = 0; i < 16_000; i++) {
    const bucket = hash32(`key-${i}`) % 16;
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
  }
  expect(Math.min(...buckets.values())).toBeGreaterThan(850);
  expect(Math.max(...buckets.values())).toBeLessThan(1_150);
});
