import { describe, expect, test } from 'vitest';
import { newCluster } from '../../test/new-cluster.js';
import { effect, happened } from '../client/effect.js';
import { task } from '../client/task.js';
import { PawlError, type ErrorCode } from '../errors.js';
import { must } from '../kernel/index.js';
import type { Store, StoreTransaction } from '../ports/store.js';

type Calls = keyof Omit<Store, 'wake' | 'listen' | 'close'>;

const OUTAGES = ['STORE_UNAVAILABLE', 'STORE_READ_ONLY', 'STORE_ACCESS_DENIED', 'STORE_FULL'] as const;
const WRITES: ReadonlySet<Calls> = new Set<Calls>(['commit', 'claim', 'beat', 'putEffect', 'putRecord']);

/** A store that fails with `error` whenever `fails` says so. */
function failing(store: Store, fails: (call: Calls) => boolean, error: () => Error): Store {
  return new Proxy(store, {
    get: (target, name: Calls) => {
      const method = target[name] as (...asked: unknown[]) => unknown;
      return (...asked: unknown[]) => (fails(name) ? Promise.reject(error()) : method(...asked));
    },
  });
}

/** As if the store in memory had transactions. */
function transactionOn(store: Store): StoreTransaction {
  return {
    tx: null,
    commit: async (item) => {
      const { now, replies } = await store.commit([item]);
      return { now, reply: must(replies[0], 'each commit is answered') };
    },
    rollback: async () => undefined,
  };
}

const outage = (code: ErrorCode) => () => new PawlError(code, { detail: 'for a while' });

describe.each(OUTAGES)('%s', (code) => {
  test('GUA-4 GUA-11 the result of an effect outlives it', async () => {
    const cluster = newCluster();
    let isDown = false;
    let entered = 0;
    let asked = 0;
    const charge = effect({
      name: 'charge',
      settle: 0,
      run: () => {
        entered += 1;
        isDown = true;
        cluster.clock.after(5_000, () => {
          isDown = false;
        });
        return 'ch_1';
      },
      reconcile: () => {
        asked += 1;
        return happened('found');
      },
    });
    const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 1));
    const store = failing(cluster.store, (call) => isDown && WRITES.has(call), outage(code));
    const rig = await cluster.join([order], {}, store);
    const { job } = await rig.app.start(order, null);
    const end = await rig.ended(job, { atMost: '20s' });
    expect(end).toMatchObject({ status: 'succeeded', result: '"ch_1"', retryCount: 0, recoveryCount: 0 });
    expect({ entered, asked }).toEqual({ entered: 1, asked: 0 });
  });

  test.each(['begin', 'inbox'] as const)('GUA-11 once from %s it is no failure of the job', async (call) => {
    const cluster = newCluster();
    let left = 1;
    const able: Store = { ...cluster.store, begin: async () => transactionOn(cluster.store) };
    const store = failing(able, (name) => name === call && left-- > 0, outage(code));
    const job = task({ name: 'job', retry: { maxRetries: 0 } }, ({ step }) =>
      call === 'begin' ? step.transaction('write', () => 1) : step.waitFor('go'),
    );
    const client = await cluster.join([], false);
    const { job: handle } = await client.app.start(job, null);
    await cluster.store.putMessage({ jobId: handle.id, key: 'go', payload: '1' });
    const rig = await cluster.join([job], {}, store);
    expect(await rig.ended(handle, { atMost: '10s' })).toMatchObject({ status: 'succeeded', result: '1' });
    expect(left).toBeLessThan(1);
  });
});

test('GUA-4 an effect whose result the store refuses is asked about, not waited for', async () => {
  const cluster = newCluster();
  const seen: string[] = [];
  const charge = effect({
    name: 'charge',
    settle: 0,
    run: () => void seen.push('entered'),
    reconcile: () => {
      seen.push('asked');
      return happened('found');
    },
  });
  const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 1));
  const broken = () => new Error('a bug in the store');
  const store = failing(cluster.store, (call) => call === 'putEffect' && seen.length === 1, broken);
  const rig = await cluster.join([order], {}, store);
  const { job } = await rig.app.start(order, null);
  expect(await rig.ended(job, { atMost: '1m' })).toMatchObject({ status: 'succeeded', result: '"found"' });
  expect(seen).toEqual(['entered', 'asked']);
});
