import { expect, test } from 'vitest';
import { list, nullable, number, object, oneOf, optional, text, WrongShape } from './shape.js';

const shape = object({
  name: text,
  at: nullable(text),
  items: list(object({ n: number })),
  more: optional(text),
});

test('what is not asked for is left out', () => {
  expect(shape({ name: 'a', at: null, items: [{ n: 1, extra: 2 }], other: 3 }, 'data')).toEqual({
    name: 'a',
    at: null,
    items: [{ n: 1 }],
    more: undefined,
  });
});

test.each([
  [{ name: 1, at: null, items: [] }, 'no text at data.name'],
  [{ name: 'a', items: [] }, 'no text at data.at'],
  [{ name: 'a', at: null, items: [{ n: 1 }, { n: '2' }] }, 'no number at data.items[1].n'],
  [[], 'no object at data'],
  [null, 'no object at data'],
])('%j is refused, with the place', (value, message) => {
  expect(() => shape(value, 'data')).toThrow(message);
  expect(() => shape(value, 'data')).toThrow(WrongShape);
});

test('a word that nobody knows is refused', () => {
  expect(() => oneOf('a', 'b')('c', 'data.status')).toThrow('no one of a, b at data.status');
});
