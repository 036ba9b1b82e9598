import { expect, test } from 'vitest';
import { oneAtATime } from './one-at-a-time.js';

test('what concerns the same thing comes one after the other, and everybody gets his own answer', async () => {
  const groups: string[][] = [];
  const answers = await oneAtATime(
    ['a1', 'b1', 'a2', 'c1', 'a3', 'b2'],
    (ask) => ask.charAt(0),
    async (asks) => {
      groups.push([...asks]);
      return asks.map((ask) => `${ask} done`);
    },
  );
  expect(await Promise.all(answers.map(async (answer) => answer))).toEqual(
    ['a1', 'b1', 'a2', 'c1', 'a3', 'b2'].map((ask) => `${ask} done`),
  );
  expect(groups).toEqual([['a1', 'b1', 'c1'], ['a2'], ['b2'], ['a3']]);
});

test('one that takes long, or fails, holds up nobody but those who want the same', async () => {
  let fail: (error: Error) => void = () => undefined;
  const slow = new Promise<string>((_, reject) => (fail = reject));
  const done: string[] = [];
  const answers = await oneAtATime(
    ['a1', 'b1', 'a2', 'b2'],
    (ask) => ask.charAt(0),
    async (asks) => asks.map((ask) => (ask === 'a1' ? slow : (done.push(ask), ask))),
  );
  expect([answers[1], await answers[3]]).toEqual(['b1', 'b2']);
  expect(done).toEqual(['b1', 'b2']);
  fail(new Error('no'));
  await expect(answers[0]).rejects.toThrow('no');
  expect(await answers[2]).toBe('a2');
});
