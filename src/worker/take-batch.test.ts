import { describe, expect, test } from 'vitest';
import { newCluster } from '../../test/new-cluster.js';
import { effect } from '../client/effect.js';
import { task, type AnyTask } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { takeBatch } from './take-batch.js';

const ask = (text: string, { alone = false } = {}) => ({ command: { text }, options: { alone } });
const lengths = (queue: ReturnType<typeof ask>[]) => {
  const batches: number[] = [];
  while (queue.length > 0) batches.push(takeBatch(queue).length);
  return batches;
};

describe('what goes into one commit', () => {
  test('all that is small, up to a thousand', () => {
    expect(lengths(Array.from({ length: 2_500 }, () => ask('x')))).toEqual([1_000, 1_000, 500]);
  });

  test('no more than a million characters, but at least one', () => {
    const texts = [400_000, 600_000, 500_000, 2_000_000, 1];
    expect(lengths(texts.map((length) => ask('x'.repeat(length))))).toEqual([2, 1, 1, 1]);
  });

  test('nothing else with what goes alone', () => {
    expect(lengths([ask('a'), ask('b'), ask('c', { alone: true }), ask('d'), ask('e')])).toEqual([2, 1, 2]);
    expect(lengths([ask('a', { alone: true })])).toEqual([1]);
  });
});

describe('commits of parallel steps stay of bearable size', () => {
  const BIG = 'x'.repeat(600_000);
  const take = effect({ name: 'take', run: (_input: string) => 1 });
  const give = effect({ name: 'give', run: (_input: number) => BIG });
  const kid = task({ name: 'kid' }, () => 1);
  const all = <T>(each: (n: number) => Promise<T>) => Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(each));

  test.each<[string, AnyTask]>([
    [
      'inputs of effects',
      task({ name: 'job' }, ({ step }) => all(() => step.effect('e', take, BIG)).then(() => 1)),
    ],
    [
      'results of effects',
      task({ name: 'job' }, ({ step }) => all((n) => step.effect('e', give, n)).then(() => 1)),
    ],
    [
      'inputs of children',
      task({ name: 'job' }, ({ step }) => all(() => step.call('c', kid, BIG)).then(() => 1)),
    ],
    [
      'results of steps',
      task({ name: 'job' }, ({ step }) => all(() => step.run('s', () => BIG)).then(() => 1)),
    ],
    ['signals', task({ name: 'job' }, ({ step }) => all((n) => step.waitFor(`w${n}`)).then(() => 1))],
  ])('whatever makes them large: %s', async (_, job) => {
    const cluster = newCluster();
    let largest = 0;
    const store: Store = {
      ...cluster.store,
      commit: (items) => {
        for (const { commands, outbox } of items) {
          largest = Math.max(largest, JSON.stringify([commands, outbox]).length);
        }
        return cluster.store.commit(items);
      },
    };
    const rig = await cluster.join([job, kid], {}, store);
    const { job: handle } = await rig.app.start(job, null, { delay: '1s' });
    for (let n = 1; n <= 8; n++) await handle.signal(`w${n}`, BIG);
    expect((await rig.ended(handle)).status).toBe('succeeded');
    expect(largest).toBeGreaterThan(600_000);
    // Twice what fits, for a child's input stands in two places.
    expect(largest).toBeLessThan(2_200_000);
  });
});
