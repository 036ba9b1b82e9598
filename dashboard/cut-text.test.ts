import { expect, test } from 'vitest';
import { cutText, jsonText } from './cut-text.js';

test.each([
  ['short', 5, 10, 'short'],
  ['one\ntwo\nthree', 2, 100, 'one\ntwo'],
  ['one\ntwo', 2, 100, 'one\ntwo'],
  ['one\ntwo\n', 2, 100, 'one\ntwo'],
  ['abcdef', 9, 3, 'abc'],
  ['ab😀cd', 9, 3, 'ab'],
  ['ab😀cd', 9, 4, 'ab😀'],
  ['', 1, 1, ''],
])('%j in %i lines and %i characters is %j', (text, lines, characters, shown) => {
  expect(cutText(text, { lines, characters })).toEqual({ text: shown, left: text.length - shown.length });
});

test('a megabyte is cut without looking at all of it', () => {
  const text = jsonText({ long: 'x'.repeat(1_000_000) });
  expect(cutText(text, { lines: 20, characters: 2_000 }).text).toHaveLength(2_000);
});

test('JSON is indented; what is no JSON has a word too', () => {
  expect(jsonText({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(jsonText(undefined)).toBe('undefined');
});
