import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { toJsonText } from './json-text.js';

/** JSON asks for its text once, and takes what it gets. */
const itself: unknown = {
  toJSON() {
    return this;
  },
};

describe('a number or date that JSON cannot hold is refused, not kept as null', () => {
  test.each([
    [Infinity, 'the value is Infinity'],
    [[1, Number.NaN], '[1] is NaN'],
    [{ a: null, amount: -Infinity }, 'amount is -Infinity'],
    [{ a: { b: [null, { c: Number.NaN }] } }, 'a.b[1].c is NaN'],
    [{ of: { toJSON: () => [Infinity] } }, 'of[0] is Infinity'],
    [JSON.parse('{"amount":1e999}'), 'amount is Infinity'],
    [new Date(Number.NaN), 'the value is an invalid date'],
    [{ at: new Date(0), due: [null, new Date('soon')] }, 'due[1] is an invalid date'],
    [{ at: new (class extends Date {})('soon') }, 'at is an invalid date'],
    [{ at: runInNewContext('new Date(NaN)') }, 'at is an invalid date'],
    [new Number(Number.NaN), 'the value is NaN'],
    [{ rates: [new Number(1), new Number(-Infinity)] }, 'rates[1] is -Infinity'],
    [{ of: { toJSON: () => new Number(Number.NaN) } }, 'of is NaN'],
    [{ price: Object.assign(new Number(Number.NaN), { currency: 'EUR' }) }, 'price is NaN'],
    [{ a: 1, b: { toJSON: (key: string) => (key === 'b' ? Number.NaN : 0) } }, 'b is NaN'],
  ])('%j', (value, says) => {
    const write = () => toJsonText(value, 'the input');
    expect(write).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }) as Error);
    expect(write).toThrow(`the input cannot be kept: ${says}`);
  });

  test.each<[value: unknown, text: string]>([
    [null, 'null'],
    [{ a: null, b: 'null', c: undefined, d: [undefined, () => 1] }, '{"a":null,"b":"null","d":[null,null]}'],
    [{ at: new Date(0), not: null }, '{"at":"1970-01-01T00:00:00.000Z","not":null}'],
    [{ not: null, size: new Number(2) }, '{"not":null,"size":2}'],
    [{ of: { toJSON: () => null } }, '{"of":null}'],
    [{ of: itself, not: null }, '{"of":{},"not":null}'],
    [{ of: { toJSON: () => new Date(Number.NaN) }, not: null }, '{"of":{},"not":null}'],
    [{ most: Number.MAX_VALUE, least: -0 }, '{"most":1.7976931348623157e+308,"least":0}'],
  ])('what is null by itself is kept: %j', (value, text) => {
    expect(toJsonText(value, 'the input')).toBe(text);
  });
});
