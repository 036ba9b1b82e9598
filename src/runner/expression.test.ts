import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluate, isTrue } from './evaluate.js';
import { parseExpression } from './expression.js';
import { renderTemplate, parseTemplate } from './template.js';

const VARIABLES: Readonly<Record<string, unknown>> = {
  color: 'red',
  size: 3,
  none: null,
  list: ['a', 2],
  deep: { er: { value: 'x' } },
  said: '3',
};
const value = (source: string): unknown =>
  evaluate(parseExpression(source), (name) => (Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined));

describe('RST-13 expressions', () => {
  test.each([
    ['color == "red"', true],
    ["color != 'red'", false],
    ['size >= 3 and size < 10', true],
    ['not color == "blue"', true],
    ['not (size > 1 or color == "red")', false],
    ['size == 1 or color == "red" and size == 3', true],
    ['said == size', true],
    ['said < 10', true],
    ['"a" in list and "b" in color', false],
    ['2 in list', true],
    ['"ed" in color', true],
    ['deep.er.value', 'x'],
    ['missing is defined', false],
    ['missing is not defined', true],
    ['deep.er is defined and deep.none is not defined', true],
    ['none == null', true],
    ['missing is defined and missing == 3', false],
    ['true', true],
    [String.raw`'it\'s' == "it's"`, true],
  ])('%s is %s', (source, expected) => {
    expect(value(source)).toEqual(expected);
  });

  test.each([
    ['', 'empty'],
    ['color ==', 'ends where a value'],
    ['color = "red"', 'cannot be read'],
    ['(size', "')' is missing"],
    ['size size', 'one too many'],
    ['size == 1 == 2', 'one too many'],
    ['and', 'where a value'],
    ['color is red', "after 'is'"],
    ['process.exit()', 'one too many'],
    ['`x`', 'cannot be read'],
    ['('.repeat(60), 'nested too deeply'],
  ])('%s cannot be read: %s', (source, message) => {
    expect(() => parseExpression(source)).toThrow(message);
  });

  test('a variable that is not there is an error, and so is a comparison that makes no sense', () => {
    expect(() => value('missing == 1')).toThrow("there is no variable 'missing'");
    expect(() => value('color > 1')).toThrow('no number');
    expect(() => value('1 in size')).toThrow('neither a list nor a text');
  });

  test('nothing of the language it is written in shows through', () => {
    for (const name of ['constructor', '__proto__', 'deep.__proto__', 'deep.constructor', 'list.length']) {
      expect(() => value(name), name).toThrow('there is no variable');
    }
  });

  test('whatever is written, it is read or refused, never run and never endless', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (source) => {
        try {
          value(source);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect(error).not.toBeInstanceOf(TypeError);
          expect(error).not.toBeInstanceOf(RangeError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('what counts as true', () => {
    for (const one of [true, 1, 'yes', ['x'], {}]) expect(isTrue(one)).toBe(true);
    for (const one of [false, 0, '', 'false', 'No', '0', [], null, undefined])
      expect(isTrue(one)).toBe(false);
  });
});

describe('RST-13 templates', () => {
  const render = (text: string): unknown => renderTemplate(parseTemplate(text), (name) => VARIABLES[name]);

  test('values are filled in; one that stands alone keeps its type', () => {
    expect(render('{{ color }}-{{size}}')).toBe('red-3');
    expect(render('{{ list }}')).toEqual(['a', 2]);
    expect(render('all: {{ list }}')).toBe('all: ["a",2]');
    expect(render('no holes')).toBe('no holes');
    expect(() => render('{{ color')).toThrow("a '{{' has no '}}'");
    expect(() => render('{{ }}')).toThrow('empty');
  });
});
