import { expect, test } from 'vitest';
import { BUCKETS, newJobId } from '../kernel/index.js';
import { drawnFrom } from './drawn-from.js';

const idOf = (text: string): string => {
  const draw = drawnFrom(text);
  return newJobId({ now: 0, bucket: draw(BUCKETS), draw });
};

test('what is drawn from the same text is the same, and from others is not', () => {
  expect(idOf('a')).toBe(idOf('a'));
  const ids = Array.from({ length: 20_000 }, (_, i) => idOf(`${i}`));
  expect(new Set(ids).size).toBe(ids.length);
});

test('an id that is drawn from a text has all of its eighty bits', () => {
  const ids = Array.from({ length: 4_000 }, (_, i) => idOf(`${i}`));
  for (let at = 10; at < 26; at++) {
    expect(new Set(ids.map((id) => id[at])).size, `character ${at}`).toBe(32);
  }
  // Nor does one character follow from another.
  for (let at = 10; at < 25; at++) {
    expect(new Set(ids.map((id) => id.slice(at, at + 2))).size, `pair ${at}`).toBeGreaterThan(950);
  }
});
