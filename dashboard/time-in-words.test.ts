import { expect, test } from 'vitest';
import { ageInWords, clockTime, spanInWords } from './time-in-words.js';

test.each([
  [-5, '0 ms'],
  [0, '0 ms'],
  [999, '999 ms'],
  [1_000, '1.0 s'],
  [9_949, '9.9 s'],
  [9_960, '10 s'],
  [59_400, '59 s'],
  [59_600, '1 min'],
  [61_000, '1 min 1 s'],
  [3_599_600, '1 h'],
  [5_400_000, '1 h 30 min'],
  [86_399_999, '1 d'],
  [90_000_000, '1 d 1 h'],
  [400 * 86_400_000, '400 d'],
])('%i ms last %s', (ms, words) => {
  expect(spanInWords(ms)).toBe(words);
});

const NOW = 1_772_020_800_000;

test.each([
  [0, 'now'],
  [1_999, 'now'],
  [-1_999, 'now'],
  [2_000, '2 s ago'],
  [59_999, '59 s ago'],
  [60_000, '1 min ago'],
  [-90_000, 'in 1 min'],
  [3_600_000, '1 h ago'],
  [47 * 3_600_000, '47 h ago'],
  [48 * 3_600_000, '2 d ago'],
])('%i ms before now is "%s"', (ms, words) => {
  expect(ageInWords(NOW - ms, NOW)).toBe(words);
});

test('the exact time has every part in two digits', () => {
  expect(clockTime(new Date(2026, 1, 5, 3, 4, 9).getTime())).toBe('2026-02-05 03:04:09');
});
