import { expect, test } from 'vitest';
import { newCluster } from '../../test/new-cluster.js';
import { task } from '../client/task.js';
import { must } from '../kernel/index.js';
import type { Store } from '../ports/store.js';

/** As if the store in memory had transactions. Counts those that were undone. */
function withTransactions(store: Store): { store: Store; undone: number } {
  const counted = { undone: 0 };
  const begin: Store['begin'] = async () => ({
    tx: null,
    commit: async (item) => {
      const { now, replies } = await store.commit([item]);
      return { now, reply: must(replies[0], 'each commit is answered') };
    },
    rollback: async () => void (counted.undone += 1),
  });
  return Object.assign(counted, { store: { ...store, begin } });
}

test('a transaction that is over is not held on to until its attempt is', async () => {
  const cluster = newCluster();
  const able = withTransactions(cluster.store);
  const job = task({ name: 'job' }, async ({ step }) => {
    for (let n = 0; n < 5; n++) await step.transaction('write', () => n);
    await step.transaction('fails', () => Promise.reject(new Error('no'))).catch(() => undefined);
  });
  const rig = await cluster.join([job], {}, able.store);
  const { job: handle } = await rig.app.start(job, null);
  expect((await rig.ended(handle)).status).toBe('succeeded');
  await rig.idle();
  // Only the one that failed, once.
  expect(able.undone).toBe(1);
});

test('GUA-10 those that are open when the attempt ends are undone, so that their connections do not wait for it', async () => {
  const cluster = newCluster();
  const able = withTransactions(cluster.store);
  const job = task({ name: 'job', timeout: '5s', retry: { maxRetries: 0 } }, ({ step }) =>
    Promise.all([1, 2].map(() => step.transaction('stuck', () => new Promise(() => undefined)))),
  );
  const rig = await cluster.join([job], {}, able.store);
  const { job: handle } = await rig.app.start(job, null);
  expect((await rig.ended(handle)).status).toBe('failed');
  await rig.idle();
  expect(able.undone).toBe(2);
});
