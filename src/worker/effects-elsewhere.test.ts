import { describe, expect, onTestFinished, test } from 'vitest';
import { effect, happened, notHappened } from '../client/effect.js';
import { task } from '../client/task.js';
import { PawlError } from '../errors.js';
import type { Store } from '../ports/store.js';
import { advanceUntil, Cluster, Link, testApp } from '../testkit/index.js';

describe('an effect that others have a part in', () => {
  test('GUA-3 a body that still runs elsewhere is waited for, and its result taken over: it is never entered beside it', async () => {
    const cluster = new Cluster();
    onTestFinished(() => cluster.stop());
    let entered = 0;
    let finish: (result: string) => void = () => undefined;
    const charge = effect({
      name: 'charge',
      run: () => {
        entered += 1;
        return new Promise<string>((resolve) => {
          finish = resolve;
        });
      },
      reconcile: () => notHappened(),
      settle: 0,
    });
    const order = task({ name: 'order', timeout: '5s', retry: { baseMs: 1, jitterMs: 0 } }, ({ step }) =>
      step.effect('charge', charge, 1),
    );
    // The attempt times out and is retried, while the worker lives on and the body with it.
    const rig = await cluster.join([order]);
    const { job } = await rig.app.start(order, null);
    await advanceUntil(cluster.clock, async () => (await job.status()).retryCount === 1);
    cluster.clock.advance(3_000);
    await rig.idle();
    expect([entered, (await job.status()).finishedAt]).toEqual([1, null]);
    finish('ch_late');
    const ended = await rig.ended(job);
    expect([entered, ended.result]).toEqual([1, '"ch_late"']);
  });

  test('GUA-4 a result that arrives after the effect was declared not to have happened is kept, and made known', async () => {
    const cluster = new Cluster();
    onTestFinished(() => cluster.stop());
    const finish: ((result: string) => void)[] = [];
    const charge = effect({
      name: 'charge',
      run: () => new Promise<string>((resolve) => finish.push(resolve)),
      reconcile: () => notHappened(),
      settle: 0,
    });
    const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 1));
    const link = new Link(cluster.store);
    const late: unknown[] = [];
    const frozen = await testApp({
      tasks: [order],
      clock: cluster.clock,
      store: link.store,
      seed: 99,
      work: { lease: '30s', poll: '1s' },
      hooks: { lateResult: (one) => late.push(one) },
    });
    onTestFinished(() => frozen.stop());
    const { job } = await frozen.app.start(order, null);
    await frozen.idle();
    link.down = true;
    const heir = await cluster.join([order]);
    await advanceUntil(cluster.clock, () => finish.length === 2);
    link.down = false;
    finish[0]?.('first');
    cluster.clock.advance(1_000);
    await heir.idle();
    finish[1]?.('second');
    expect((await heir.ended(heir.app.job(job.id))).result).toBe('"second"');
    expect(late).toEqual([{ jobId: job.id, step: 'charge', occurrence: 1, entry: 1 }]);
    expect(await heir.app.alerts.list()).toMatchObject([
      { rule: 'effect_late_result', severity: 'P1', tenantId: 'default', jobId: job.id, step: 'charge' },
    ]);
    expect((await cluster.store.effects(job.id)).results.map(({ result }) => result)).toEqual([
      '"first"',
      '"second"',
    ]);
  });

  test('GUA-4 a late result is made known, also if the log cannot be read at first', async () => {
    const cluster = new Cluster();
    onTestFinished(() => cluster.stop());
    const finish: ((result: string) => void)[] = [];
    let outages = 0;
    const flaky = new Proxy(cluster.store, {
      get: (target, name: keyof Store) =>
        name !== 'log'
          ? target[name]
          : async (...asked: Parameters<Store['log']>) => {
              if (outages-- > 0) throw new PawlError('STORE_UNAVAILABLE', { detail: 'it is down' });
              return target.log(...asked);
            },
    });
    const charge = effect({
      name: 'charge',
      run: () => new Promise<string>((resolve) => finish.push(resolve)),
      reconcile: () => notHappened(),
      settle: 0,
      timeout: '1s',
    });
    const order = task({ name: 'order', retry: { baseMs: 1, jitterMs: 0 } }, ({ step }) =>
      step.effect('charge', charge, 1),
    );
    const rig = await cluster.join([order], {}, flaky);
    const { job } = await rig.app.start(order, null);
    await advanceUntil(cluster.clock, () => finish.length === 2);
    finish[1]?.('second');
    await rig.ended(job);
    outages = 3;
    finish[0]?.('first');
    await advanceUntil(cluster.clock, async () => (await rig.app.alerts.list()).length > 0);
    expect(await rig.app.alerts.list()).toMatchObject([{ rule: 'effect_late_result', jobId: job.id }]);
    expect(outages).toBeLessThan(0);
  });

  test('GUA-11 an outage while an effect is looked into is no failure of the handler', async () => {
    const cluster = new Cluster();
    onTestFinished(() => cluster.stop());
    let attempts = 0;
    let outages = 0;
    const flaky = new Proxy(cluster.store, {
      get: (target, name: keyof Store) =>
        name !== 'effects'
          ? target[name]
          : async (jobId: string) => {
              outages += 1;
              if (outages < 4) throw new PawlError('STORE_UNAVAILABLE', { detail: 'it is down' });
              return target.effects(jobId);
            },
    });
    const charge = effect({
      name: 'charge',
      run: (): string => {
        attempts += 1;
        throw new Error('connection reset');
      },
      reconcile: () => happened('ch_found'),
      settle: 0,
    });
    const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 1));
    const rig = await cluster.join([order], {}, flaky);
    const ended = await rig.ended((await rig.app.start(order, null)).job);
    expect([ended.result, ended.retryCount, attempts, outages]).toEqual(['"ch_found"', 0, 1, 4]);
  });
});
