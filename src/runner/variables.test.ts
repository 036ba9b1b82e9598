import { expect, test } from 'vitest';
import { CyclicVariables, layered } from './variables.js';

test('RST-13 of variables the later layer wins, also within the templates of an earlier one', () => {
  const lookup = layered([{ a: 'global', b: '{{ a }}!' }, { a: 'group' }, { a: 'host' }]);
  expect([lookup('a'), lookup('b'), lookup('c')]).toEqual(['host', 'host!', undefined]);
});

test('RST-13 what a host has said is never read as a template', () => {
  const lookup = layered([{ secret: 's3cret', shown: '{{ said }}' }], { said: '{{ secret }}' });
  expect([lookup('said'), lookup('shown')]).toEqual(['{{ secret }}', '{{ secret }}']);
});

test('RST-13 variables that need each other are found, with their way', () => {
  const lookup = layered([{ a: '{{ b }}', b: ['{{ c.x }}'], c: { x: '{{ a }}' }, d: '{{ d }}' }]);
  expect(() => lookup('a')).toThrow(new CyclicVariables(['a', 'b', 'c', 'a']).message);
  expect(() => lookup('d')).toThrow('d → d');
});
