import { expect, test } from 'vitest';
import { prng } from './index.js';

const draw = (seed: number, times: number, below: number) => {
  const random = prng(seed);
  return Array.from({ length: times }, () => random.int(below));
};

test('the same seed gives the same numbers, on every machine', () => {
  expect(draw(42, 6, 1_000)).toEqual(GOLDEN);
  expect(draw(42, 50, 1_000)).toEqual(draw(42, 50, 1_000));
  expect(draw(43, 6, 1_000)).not.toEqual(GOLDEN);
});

test('every number below the bound comes up about equally often', () => {
  for (const below of [2, 3, 10, 100]) {
    const counts = new Map<number, number>();
    for (const n of draw(below, 100_000, below)) counts.set(n, (counts.get(n) ?? 0) + 1);
    expect([...counts.keys()].every((n) => Number.isInteger(n) && n >= 0 && n < below)).toBe(true);
    expect(counts.size).toBe(below);
    const expected = 100_000 / below;
    for (const count of counts.values())
      expect(Math.abs(count - expected)).toBeLessThan(6 * Math.sqrt(expected));
  }
});

test('bounds up to 2^32 work', () => {
  expect(Math.max(...draw(1, 1_000, 2 ** 32))).toBeGreaterThan(2 ** 31);
  expect(new Set(draw(1, 100, 1))).toEqual(new Set([0]));
});

/** What release 0.1 drew. A change would make recorded seeds worthless. */
const GOLDEN = [221, 732, 526, 633, 756, 677];
