import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rateRoom, useRate, type RateUse } from './rate-limit.js';

const ten = { name: 'task', limit: 10, perMs: 1_000 };

describe('a rate limit', () => {
  test('lets so many start, then none until the first is a period ago', () => {
    const use = useRate(ten, [], { now: 5_000, starts: 10 });
    expect(rateRoom(ten, [], 5_000)).toEqual({ room: 10, freeAt: null, use: [] });
    expect(rateRoom(ten, use, 5_500)).toEqual({ room: 0, freeAt: 6_020, use });
    expect(rateRoom(ten, use, 6_020)).toEqual({ room: 10, freeAt: null, use: [] });
  });

  test('a limit that was lowered below its use leaves no room, and no debt', () => {
    const use = useRate(ten, [], { now: 5_000, starts: 10 });
    expect(rateRoom({ ...ten, limit: 3 }, use, 5_100)).toMatchObject({ room: 0, freeAt: 6_020 });
  });

  test('a clock that was set back adds to the latest slot', () => {
    const use = useRate(ten, [[5_000, 2]], { now: 4_000, starts: 1 });
    expect(use).toEqual([[5_000, 3]]);
  });

  test('is never exceeded in any period, and its record stays short, whoever asks and when', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 5_000 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 30 })), {
          maxLength: 200,
        }),
        (limit, perMs, asks) => {
          const rate = { name: 'r', limit, perMs };
          const starts: number[] = [];
          let use: RateUse = [];
          let now = 1_000_000;
          for (const [later, wanted] of asks) {
            now += later;
            const { room, use: counting } = rateRoom(rate, use, now);
            const granted = Math.min(room, wanted);
            use = granted > 0 ? useRate(rate, counting, { now, starts: granted }) : counting;
            for (let n = 0; n < granted; n++) starts.push(now);
            expect(use.length).toBeLessThanOrEqual(102);
          }
          for (const [index, at] of starts.entries()) {
            const later = starts[index + limit];
            if (later !== undefined) expect(later - at).toBeGreaterThanOrEqual(perMs);
          }
        },
      ),
    );
  });
});
