import { expect, test } from 'vitest';
import { Alarms } from '../engine/alarms.js';
import type { Job } from '../kernel/index.js';
import { fakeClock, prng, T0 } from '../testkit/index.js';
import { Replay } from './replay.js';
import { Turns } from './turns.js';

/** Hands out as many, asked for in this order, and says what was handed out in each turn. */
async function handOut(places: readonly number[]): Promise<number[][]> {
  const turns = new Turns(() => true);
  const handedOut: number[][] = [];
  let thisTurn: number[] = [];
  for (const at of places) turns.wait(at, (value) => thisTurn.push(value), at);
  while (!turns.isFree) {
    await new Promise((resolve) => setImmediate(resolve));
    if (thisTurn.length > 0) handedOut.push(thisTurn);
    thisTurn = [];
  }
  return handedOut;
}

test('GUA-6 whatever the order in which they are asked for, the earliest is handed out first, one in each turn', async () => {
  const random = prng(7);
  for (let round = 0; round < 50; round++) {
    const places = Array.from({ length: random.int(40) }, () => random.int(1_000));
    const inOrder = places.toSorted((one, two) => one - two);
    expect(await handOut(places)).toEqual(inOrder.map((at) => [at]));
  }
});

test('GUA-6 what is asked for because of one is considered before the next', async () => {
  const turns = new Turns(() => true);
  const seen: number[] = [];
  const done = new Promise<void>((resolve) => {
    turns.wait(9, resolve, undefined);
  });
  const askForTwo = () => turns.wait(2, (value) => seen.push(value), 2);
  turns.wait(1, () => void Promise.resolve().then(askForTwo), null);
  await done;
  expect(seen).toEqual([2]);
});

test('a turn in which something was handed out is over before there is room for more', async () => {
  const turns = new Turns(() => true);
  let wasFree: boolean | null = null;
  const handedOut = new Promise<void>((resolve) => {
    const hear = (value: void) => {
      wasFree = turns.isFree;
      resolve(value);
    };
    turns.wait(1, hear, undefined);
  });
  await handedOut;
  expect([wasFree, turns.isFree, turns.isBusy]).toEqual([false, false, false]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(turns.isFree).toBe(true);
});

test(
  'GUA-6 parallel steps by the ten thousand are replayed in a time that grows with their number only',
  {
    timeout: 20_000,
  },
  async () => {
    const all = Array.from({ length: 60_000 }, (_, index) => ({ step: 'each', occurrence: index + 1 }));
    const recorded = { type: 'step.recorded', at: T0, actor: 'client', startedAt: T0, output: '1' } as const;
    const commits = [{ jobId: 'job', rev: 3, events: all.map((ref) => ({ ...recorded, ...ref })) }];
    const replay = new Replay(
      new Alarms(fakeClock(T0)),
      { retryCount: 0, spec: { continues: null } } as Job,
      commits,
    );
    const handedOut: number[] = [];
    await Promise.all(
      all.toReversed().map(async (ref) => {
        await replay.deliver(ref);
        handedOut.push(ref.occurrence);
      }),
    );
    expect(handedOut).toEqual(all.map(({ occurrence }) => occurrence));
  },
);
