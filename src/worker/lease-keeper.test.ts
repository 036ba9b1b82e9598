import { expect, test } from 'vitest';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, prng, T0 } from '../testkit/index.js';
import { Engine } from '../engine/engine.js';
import { LeaseKeeper } from './lease-keeper.js';

const courier = { check: async () => undefined, deliver: async () => ({ ok: true }) as never };

/** A worker with a name of its own, and what becomes of it. */
async function keeper({ seed }: { seed: number }) {
  const clock = fakeClock(T0);
  const engine = new Engine({
    store: memoryStore({ clock }),
    clock,
    random: prng(seed),
    log: console,
    courier,
  });
  const replaced: string[] = [];
  const of = new LeaseKeeper(engine, {
    workerId: 'named',
    namedUnder: '',
    leaseMs: 30_000,
    lanes: [],
    onBeat: () => () => undefined,
    onLost: () => undefined,
    onReplaced: ({ code }) => replaced.push(code),
  });
  await of.start();
  return { of, engine, replaced };
}

test('GUA-10 a worker that loses its lease again in one millisecond does not take itself for its successor', async () => {
  // Of two ids of one millisecond chance decides which comes first: some of these seeds have it the wrong way round.
  for (let seed = 1; seed <= 20; seed++) {
    const { of, engine, replaced } = await keeper({ seed });
    for (let time = 0; time < 3; time++) {
      const { incarnation } = of.worker;
      await of.lost(incarnation, 'the store says so');
      expect(of.worker.incarnation > incarnation).toBe(true);
      await engine.store.beat({ worker: of.worker, leaseMs: 30_000, lanes: [] });
    }
    expect(replaced).toEqual([]);
    await of.stop();
  }
});

test('GUA-10 that an incarnation is dead which was given up before is no news', async () => {
  const { of } = await keeper({ seed: 1 });
  const first = of.worker.incarnation;
  await of.lost(first, 'the store says so');
  const second = of.worker.incarnation;
  await of.lost(first, 'a claim that was under way says so, too');
  expect(of.worker.incarnation).toBe(second);
  await of.stop();
});
