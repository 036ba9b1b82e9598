import { describe, expect, test } from 'vitest';
import * as is from './option-checks.js';
import { kindOf, Options, shown } from './options.js';

type Asked = { readonly by: string; readonly limit?: number; readonly kind?: string | null };

const ASKED = new Options<Asked>({
  by: is.required(is.text),
  limit: is.whole(1),
  kind: is.orNull(is.oneOf('a', 'b')),
});

const problemOf = (given: unknown, at?: string): unknown => {
  try {
    ASKED.expect(given, 'ask()', at);
    return null;
  } catch (error) {
    return error;
  }
};

describe('options', () => {
  test.each([{ by: 'me' }, { by: 'me', limit: 1, kind: null }, { by: 'me', limit: undefined, kind: 'b' }])(
    'what is as it has to be is taken: %j',
    (given) => {
      expect(problemOf(given)).toBeNull();
    },
  );

  test.each<[unknown, string, string]>([
    [{ by: 'me', limt: 3 }, 'limt', "ask() has no option 'limt' (did you mean 'limit'?)"],
    [{ by: 'me', toString: 3 }, 'toString', "ask() has no option 'toString': there are by, limit, kind"],
    [{}, 'by', 'by of ask() is missing'],
    [{ by: '' }, 'by', 'by of ask() is "", which is no text'],
    [{ by: null }, 'by', 'by of ask() is null, which is no text'],
    [{ by: 'me', limit: 0 }, 'limit', 'limit of ask() is 0, which is no whole number from 1 up'],
    [{ by: 'me', limit: '3' }, 'limit', 'limit of ask() is "3", which is no whole number from 1 up'],
    [{ by: 'me', kind: 'c' }, 'kind', 'kind of ask() is "c", which is none of a, b'],
    [null, 'options', 'options of ask(): null is no object'],
    ['me', 'options', 'options of ask(): a string is no object'],
  ])('INVALID_OPTION for %j', (given, option, message) => {
    expect(problemOf(given)).toMatchObject({
      code: 'INVALID_OPTION',
      details: { option },
      message: `${message}. Correct the option that is named.`,
    });
  });

  test('what is inherited counts, as it does for whoever reads it', () => {
    expect(problemOf(Object.create({ by: 'me' }))).toBeNull();
    expect(problemOf(Object.create({ by: 'me', bye: 'you' }))).toMatchObject({ details: { option: 'bye' } });
  });

  test('options within options are named by where they stand', () => {
    expect(problemOf({ by: 5 }, 'inner.')).toMatchObject({
      details: { option: 'inner.by' },
      message: expect.stringContaining('inner.by of ask() is 5') as string,
    });
    expect(problemOf(5, 'inner.')).toMatchObject({ details: { option: 'inner' } });
  });
});

test.each<[is.Check, readonly unknown[], readonly unknown[]]>([
  [is.text, [undefined, 'a'], ['', 5, null]],
  [is.flag, [undefined, true, false], ['true', 0, null]],
  [is.func, [undefined, () => 1], ['f', {}, null]],
  [is.object, [undefined, {}], ['o', null]],
  [is.duration, [undefined, 0, 250, '30s'], [-1, '30', 'soon', Number.NaN, Infinity, null, {}]],
  [is.above0, [undefined, 0.5], [0, -1, '1', Number.NaN, Infinity]],
  [is.listOf(is.text, 'names'), [undefined, [], ['a']], ['a', [''], [undefined], [5], null, {}]],
])('a check takes what it should, and nothing else: %s', (check, taken, refused) => {
  expect(taken.filter((value) => check(value) !== null)).toEqual([]);
  expect(refused.filter((value) => check(value) === null)).toEqual([]);
});

test('of what may be a payload only its kind is told', () => {
  expect([undefined, null, 'a', 5, {}, [], () => 1].map(kindOf)).toEqual([
    'undefined',
    'null',
    'a string',
    'a number',
    'an object',
    'a list',
    'a function',
  ]);
});

test('a value is shown in a few words, whatever it is', () => {
  const itself: Record<string, unknown> = {};
  itself['itself'] = itself;
  const values = [undefined, null, 'a', 5n, () => 1, itself, Symbol('s'), 'x'.repeat(100)];
  expect(values.map(shown)).toEqual([
    'undefined',
    'null',
    '"a"',
    '5',
    'a function',
    'an object',
    'Symbol(s)',
    `"${'x'.repeat(59)}…`,
  ]);
});
