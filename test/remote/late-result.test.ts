import { expect, onTestFinished, test } from 'vitest';
import { PawlError } from '../../src/errors.js';
import { effect, notHappened, systemClock, task, type Pawl } from '../../src/index.js';
import type { Duration } from '../../src/engine/duration.js';
import type { Store } from '../../src/ports/store.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { groundOn, remoteApp } from './ground.js';
import { LossyProxy } from './lossy-proxy.js';

/** Long enough for a busy machine, and short enough to wait for its end. */
const SOON_LOST = { lease: '3s' } as const;

/** An effect whose bodies end when the test says so, and that is always said not to have happened. */
function anEffect({ timeout }: { timeout?: Duration } = {}) {
  const finish: ((result: string) => void)[] = [];
  const charge = effect({
    name: 'charge',
    run: () => new Promise<string>((resolve) => finish.push(resolve)),
    reconcile: () => notHappened(),
    settle: 0,
    ...(timeout === undefined ? {} : { timeout }),
  });
  return { charge, finish };
}

async function openProxy(target: string): Promise<{ proxy: LossyProxy; url: string }> {
  const proxy = new LossyProxy(target);
  const url = await proxy.open();
  onTestFinished(() => proxy.close());
  return { proxy, url };
}

/** A worker that can be cut off, within its effect. */
async function startBehindProxy(target: string, key: string) {
  const { proxy, url } = await openProxy(target);
  const { charge, finish } = anEffect();
  const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 1));
  const worker = await remoteApp(url, { key, tasks: [order], work: SOON_LOST });
  const { job } = await worker.start(order, null);
  await expect.poll(() => finish.length).toBe(1);
  return { proxy, order, job, finish };
}

async function expectAlert(app: Pawl, jobId: string): Promise<void> {
  await expect
    .poll(() => app.alerts.list({ tenantId: 'acme' }))
    .toMatchObject([{ rule: 'effect_late_result', severity: 'P1', jobId, step: 'charge' }]);
}

test('GUA-4 a late result of a remote worker is kept, and the server raises the alert', async () => {
  const { app, serving, key } = await groundOn('memory:');
  const { proxy, order, job, finish } = await startBehindProxy(serving.url, await key());
  proxy.fate = () => 'there';

  await remoteApp(serving.url, { key: await key(), tasks: [order], work: SOON_LOST });
  await expect.poll(() => finish.length).toBe(2);
  finish[0]?.('first');
  proxy.fate = () => 'through';
  await expectAlert(app, job.id);
  finish[1]?.('second');
  await expect.poll(async () => (await app.job(job.id).status()).result).toBe('"second"');
});

test('GUA-4 a body that went on past its time is late although its own attempt still runs', async () => {
  const { app, serving, key } = await groundOn('memory:');
  const { charge, finish } = anEffect({ timeout: '100ms' });
  const order = task({ name: 'order' }, async ({ step }) => {
    const failed = await step.effect('charge', charge, 1).catch((error: Error) => error.message);
    return step.run('go on', () => new Promise((resolve) => finish.push(() => resolve(failed))));
  });
  const remote = await remoteApp(serving.url, { key: await key(), tasks: [order], work: SOON_LOST });
  const { job } = await remote.start(order, null);
  await expect.poll(() => finish.length).toBe(2);
  finish[0]?.('first');
  await expectAlert(app, job.id);
  expect((await app.job(job.id).status()).status).toBe('running');
  finish[1]?.('');
});

test('GUA-4 a late result is made known although the answer of the store that kept it was lost', async () => {
  const memory = memoryStore({ clock: systemClock });
  let isLost = false;
  const store: Store = {
    ...memory,
    async putEffect(kept) {
      const reply = await memory.putEffect(kept);
      if (isLost || kept.result === null) return reply;
      isLost = true;
      throw new PawlError('STORE_UNAVAILABLE', { detail: 'the reply was lost' });
    },
  };
  const { app, serving, key } = await groundOn(store);
  const { charge, finish } = anEffect({ timeout: '100ms' });
  const retry = { maxRetries: 5, baseMs: 1, jitterMs: 0 };
  const order = task({ name: 'order', retry }, ({ step }) => step.effect('charge', charge, 1));
  const remote = await remoteApp(serving.url, { key: await key(), tasks: [order], work: SOON_LOST });
  const { job } = await remote.start(order, null);
  await expect.poll(() => finish.length).toBeGreaterThan(1);
  finish[0]?.('first');
  await expectAlert(app, job.id);
  expect(isLost).toBe(true);
});

test('GUA-4 a result is late if its worker was given up while the server kept it', async () => {
  const memory = memoryStore({ clock: systemClock });
  const keep: (() => void)[] = [];
  const store: Store = {
    ...memory,
    async putEffect(kept) {
      if (kept.result === '"first"') await new Promise<void>((resolve) => keep.push(resolve));
      return memory.putEffect(kept);
    },
  };
  const { app, serving, key } = await groundOn(store);
  const { proxy, order, job, finish } = await startBehindProxy(serving.url, await key());
  finish[0]?.('first');
  await expect.poll(() => keep.length).toBe(1);
  proxy.fate = () => 'there';

  await remoteApp(serving.url, { key: await key(), tasks: [order], work: SOON_LOST });
  await expect.poll(() => finish.length).toBe(2);
  keep[0]?.();
  await expectAlert(app, job.id);
  finish[1]?.('second');
});

test('GUA-4 whether a result is late is not looked up while the attempt that waits for it has the job', async () => {
  const memory = memoryStore({ clock: systemClock });
  let looks = 0;
  const store: Store = {
    ...memory,
    log(jobId, page) {
      looks += 1;
      return memory.log(jobId, page);
    },
  };
  const { serving, key } = await groundOn(store);
  const charge = effect({ name: 'charge', run: () => 'paid' });
  const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 1));
  const remote = await remoteApp(serving.url, { key: await key(), tasks: [order], work: SOON_LOST });
  const { job } = await remote.start(order, null);
  expect(await job.result({ timeout: '200s' })).toBe('paid');
  expect(looks).toBe(0);
});
