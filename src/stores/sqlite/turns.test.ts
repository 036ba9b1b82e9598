import { expect, test } from 'vitest';
import { Turns, type Manner } from './turns.js';

/** Who has begun, in which order; `leave` is called for each that is to end. */
function queued(...manners: readonly Manner[]) {
  const turns = new Turns();
  const begun: number[] = [];
  const all = manners.map((manner, n) => turns.wait(manner).then(() => void begun.push(n)));
  const settled = async (): Promise<readonly number[]> => {
    for (let ticks = 0; ticks < 5; ticks++) await Promise.resolve();
    return [...begun];
  };
  return { turns, settled, all: Promise.all(all) };
}

test('one who writes alone waits for all before him, and all behind him wait', async () => {
  const { turns, settled, all } = queued('side by side', 'side by side', 'alone', 'side by side', 'alone');
  expect(await settled()).toEqual([0, 1]);
  turns.leave();
  expect(await settled()).toEqual([0, 1]);
  turns.leave();
  expect(await settled()).toEqual([0, 1, 2]);
  turns.leave();
  expect(await settled()).toEqual([0, 1, 2, 3]);
  turns.leave();
  await all;
  expect(turns.isFree).toBe(false);
  turns.leave();
  expect(turns.isFree).toBe(true);
});

test('a turn is taken at once only where nobody is at it, and nobody waits', async () => {
  const { turns, settled } = queued('side by side', 'alone');
  expect(turns.take('side by side')).toBe(false);
  expect(turns.take('alone')).toBe(false);
  turns.leave();
  expect(await settled()).toEqual([0, 1]);
  turns.leave();
  expect(turns.take('alone')).toBe(true);
  expect(turns.take('side by side')).toBe(false);
});
