import { describe, expect, test } from 'vitest';
import { toJsonText } from './json-text.js';

describe('a number that JSON cannot hold is refused, not kept as null', () => {
  test.each([
    [Infinity, 'the value is Infinity'],
    [[1, Number.NaN], '[1] is NaN'],
    [{ a: null, amount: -Infinity }, 'amount is -Infinity'],
    [{ a: { b: [null, { c: Number.NaN }] } }, 'a.b[1].c is NaN'],
    [{ of: { toJSON: () => [Infinity] } }, 'of[0] is Infinity'],
    [JSON.parse('{"amount":1e999}'), 'amount is Infinity'],
  ])('%j', (value, says) => {
    const write = () => toJsonText(value, 'the input');
    expect(write).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }) as Error);
    expect(write).toThrow(`the input cannot be kept: ${says}`);
  });

  test.each([
    [null, 'null'],
    [{ a: null, b: 'null', c: undefined, d: [undefined, () => 1] }, '{"a":null,"b":"null","d":[null,null]}'],
    [{ at: new Date(0), not: new Date(Number.NaN) }, '{"at":"1970-01-01T00:00:00.000Z","not":null}'],
    [{ most: Number.MAX_VALUE, least: -0 }, '{"most":1.7976931348623157e+308,"least":0}'],
  ])('what is null by itself is kept: %j', (value, text) => {
    expect(toJsonText(value, 'the input')).toBe(text);
  });
});
