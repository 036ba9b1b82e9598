import { expect, onTestFinished, test } from 'vitest';
import { goOn, slowly, turns } from '../../test/go-on.js';
import { effect } from '../client/effect.js';
import { task, type AnyTask } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, T0, testApp } from '../testkit/index.js';
import type { Steps } from './steps.js';

async function appOf(order: AnyTask, store: (inner: Store) => Store = (inner) => inner) {
  const clock = fakeClock(T0);
  const rig = await testApp({ tasks: [order], clock, store: store(memoryStore({ clock })) });
  onTestFinished(() => rig.stop());
  return rig;
}

const act = effect<string, null>({ name: 'act', run: () => null });

/** What ends first, and what comes only after it. */
const RACES: Readonly<Record<string, (step: Steps, isMended: boolean) => Promise<'A' | 'B'>[]>> = {
  'two quick steps, and a slow one': (step) => [
    (async () => {
      await step.run('a1', () => 1);
      await step.run('a2', () => 2);
      return 'A' as const;
    })(),
    step.run('b', () => turns(200)).then(() => 'B'),
  ],
  'a step after code of its own, and a slow one': (step) => [
    turns(3).then(async () => {
      await step.run('a', () => 1);
      return 'A' as const;
    }),
    step.run('b', () => turns(200)).then(() => 'B'),
  ],
  'an effect, and a slow step': (step) => [
    step.effect('charge', act, 'A').then(() => 'A'),
    step.run('b', () => turns(400)).then(() => 'B'),
  ],
  'an effect, and what the old job never came to': (step, isMended) => [
    step.effect('charge', act, 'A').then(() => 'A'),
    step.run('poll', () => (isMended ? 1 : new Promise(() => undefined))).then(() => 'B'),
  ],
};

test.each(Object.keys(RACES))(
  'GUA-6 a race has the same winner in the job that goes on, and in its replays: %s',
  async (name) => {
    const winners: string[] = [];
    let isMended = false;
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
      const winner = await Promise.race(RACES[name]?.(step, isMended) ?? []);
      winners.push(winner);
      await step.effect(`order from ${winner}`, act, winner);
      if (!isMended) throw new Error('broken');
      await step.sleep('a day', '1d');
    });
    const rig = await appOf(order, (store) => slowly(store, ['effects'], 20));
    const { job } = await rig.app.start(order, null);
    await rig.ended(job);
    isMended = true;
    expect((await rig.ended(await goOn(rig, job))).status).toBe('succeeded');
    expect(winners).toEqual(['A', 'A', 'A']);
  },
);

test('GUA-6 an approval and its charge beat a time limit that has long run out when the job goes on', async () => {
  const said: string[] = [];
  let isMended = false;
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
    const paid = (async () => {
      await step.waitFor('approval');
      await step.effect('charge', act, 'charge');
      return 'paid';
    })();
    const winner = await Promise.race([paid, step.sleep('limit', '1h').then(() => 'late')]);
    said.push(winner);
    if (!isMended) throw new Error('broken');
    await step.sleep('cool', '2d');
    await step.effect(winner, act, winner);
  });
  const rig = await appOf(order, (store) => slowly(store, ['commit'], 15));
  const { job } = await rig.app.start(order, null);
  for (let times = 0; times < 4; times++) await rig.idle();
  await job.signal('approval', 'yes');
  await rig.ended(job);
  isMended = true;
  rig.clock.advance(86_400_000);
  await rig.ended(await goOn(rig, job));
  expect(new Set(said)).toEqual(new Set(['paid']));
});

test('GUA-6 a mended handler need not ask for all that is recorded, and may ask for more', async () => {
  const ran: string[] = [];
  let isMended = false;
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
    const run = (name: string) => step.run(name, () => void ran.push(name));
    await run('first');
    if (!isMended) await step.effect('needless', act, 'needless');
    if (isMended) await run('between');
    await run('second');
    if (!isMended) throw new Error('broken');
  });
  const rig = await appOf(order);
  const { job } = await rig.app.start(order, null);
  await rig.ended(job);
  isMended = true;
  expect((await rig.ended(await goOn(rig, job))).status).toBe('succeeded');
  expect(ran).toEqual(['first', 'second', 'between']);
});
