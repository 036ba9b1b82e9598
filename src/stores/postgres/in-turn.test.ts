import { expect, test } from 'vitest';
import { inTurn } from './in-turn.js';

test('what concerns the same thing comes one after the other, and everybody gets his own answer', async () => {
  const groups: string[][] = [];
  const answers = await inTurn(
    ['a1', 'b1', 'a2', 'c1', 'a3', 'b2'],
    (ask) => ask.charAt(0),
    async (asks) => {
      groups.push([...asks]);
      return asks.map((ask) => `${ask} of ${groups.length}`);
    },
  );
  expect(groups).toEqual([['a1', 'b1', 'c1'], ['a2', 'b2'], ['a3']]);
  expect(answers).toEqual(['a1 of 1', 'b1 of 1', 'a2 of 2', 'c1 of 1', 'a3 of 3', 'b2 of 2']);
});
