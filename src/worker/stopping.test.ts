import { expect, test } from 'vitest';
import { newCluster } from '../../test/new-cluster.js';
import { Pawl } from '../client/app.js';
import { effect, notHappened } from '../client/effect.js';
import { task } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { advanceUntil } from '../testkit/index.js';

/** A store that takes what it is asked, and answers it only once it is told to. */
function silenced(store: Store) {
  const state = { isSilent: false, asked: [] as (keyof Store)[], answer: () => undefined as void };
  const heard = new Promise<void>((resolve) => (state.answer = resolve));
  const of = new Proxy(store, {
    get: (target, name: keyof Store) => {
      const method = target[name] as (...asked: unknown[]) => unknown;
      if (name === 'wake' || name === 'listen' || name === 'close') return method;
      return async (...asked: unknown[]) => {
        if (state.isSilent) {
          state.asked.push(name);
          await heard;
        }
        return method(...asked);
      };
    },
  });
  return { of, state };
}

const WORK = { lease: '30s', poll: '1s', drain: '1s', stopOnSignal: false } as const;

test('DEC-5 GUA-11 a worker stops although the store does not answer, and nothing of it goes on afterwards', async () => {
  const cluster = newCluster();
  const { clock } = cluster;
  const { of, state } = silenced(cluster.store);
  let entered = 0;
  let runs = 0;
  const charge = effect({ name: 'charge', settle: 0, run: () => void (entered += 1) });
  const order = task({ name: 'order' }, async ({ step }) => {
    runs += 1;
    if (runs === 1) await new Promise((resolve) => void clock.after(2_000, () => resolve(null)));
    await step.effect('charge', charge, 1);
    return 'done';
  });
  const rig = await cluster.join([order], WORK, of);
  const { job } = await rig.app.start(order, null);
  await advanceUntil(clock, () => runs === 1);
  state.isSilent = true;
  clock.advance(1_500);
  await rig.idle();
  expect(state.asked).toContain('claim');
  const begun = clock.now();
  await rig.run(rig.app.stop(), { atMost: '1m' });
  expect(clock.now() - begun).toBe(6_000);
  const { length } = state.asked;
  // Now all is answered that was asked.
  state.isSilent = false;
  state.answer();
  await rig.idle();
  clock.advance(10_000);
  await rig.idle();
  expect(state.asked).toHaveLength(length);
  expect({ entered, runs }).toEqual({ entered: 0, runs: 1 });
  const heir = await cluster.join([order], WORK);
  expect(await heir.ended(job, { atMost: '2m' })).toMatchObject({ status: 'succeeded', result: '"done"' });
  expect({ entered, runs }).toEqual({ entered: 1, runs: 2 });
});

test('DEC-5 GUA-11 a worker stops that the store has never taken on', async () => {
  const cluster = newCluster();
  const { clock } = cluster;
  const { of, state } = silenced(cluster.store);
  const quick = task({ name: 'quick' }, () => 1);
  const rig = await cluster.join([quick], false, of);
  state.isSilent = true;
  const working = rig.app.work(WORK);
  await rig.idle();
  const begun = clock.now();
  await rig.run(rig.app.stop(), { atMost: '1m' });
  expect(clock.now() - begun).toBeLessThanOrEqual(6_000);
  state.isSilent = false;
  state.answer();
  await working;
  clock.advance(120_000);
  await rig.idle();
  expect(state.asked).toEqual(['beat']);
});

test('GUA-11 JOB-12 a store that falls silent is said to be down after five seconds, from when it was asked', async () => {
  const cluster = newCluster();
  const { clock } = cluster;
  const { of, state } = silenced(cluster.store);
  const rig = await cluster.join([], WORK, of);
  const { storeHealth } = Pawl.inside(rig.app).engine;
  state.isSilent = true;
  await advanceUntil(clock, () => state.asked.includes('beat'));
  const asked = clock.now();
  await advanceUntil(clock, () => !storeHealth.current.answers, { atMost: '6s' });
  expect(clock.now() - asked).toBe(5_000);
  expect(storeHealth.current.since).toBe(asked);
  state.isSilent = false;
  state.answer();
  await rig.idle();
  expect(storeHealth.current.answers).toBe(true);
});

/** Those whom the store takes for alive. */
const aliveIn = async (store: Store): Promise<number> =>
  (await store.workers({ incarnations: null })).workers.length;

test('DEC-5 a worker that has stopped with nothing in its hands is gone at once', async () => {
  const cluster = newCluster();
  const quick = task({ name: 'quick' }, () => 1);
  const rig = await cluster.join([quick], WORK);
  const { job } = await rig.app.start(quick, null);
  await rig.ended(job, { atMost: '1m' });
  expect(await aliveIn(cluster.store)).toBe(1);
  await rig.run(rig.app.stop(), { atMost: '1m' });
  expect(await aliveIn(cluster.store)).toBe(0);
});

test('DEC-5 GUA-3 a worker whose effect still runs when it stops keeps its lease: others wait for the result', async () => {
  const cluster = newCluster();
  const { clock, store } = cluster;
  let entered = 0;
  const charge = effect({
    name: 'charge',
    run: () => {
      entered += 1;
      return new Promise<string>((resolve) => void clock.after(10_000, () => resolve('paid')));
    },
    reconcile: () => notHappened(),
  });
  const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 1));
  const first = await cluster.join([order], WORK);
  const { job } = await first.app.start(order, null);
  await advanceUntil(clock, () => entered === 1);
  await first.run(first.app.stop(), { atMost: '1m' });
  expect(await aliveIn(store)).toBe(1);
  const second = await cluster.join([order], WORK);
  expect(await second.ended(job, { atMost: '1m' })).toMatchObject({ status: 'succeeded', result: '"paid"' });
  expect(entered).toBe(1);
  await second.run(second.app.stop(), { atMost: '1m' });
});
