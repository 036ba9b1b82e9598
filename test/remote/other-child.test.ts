import { expect, test } from 'vitest';
import { eventsIn, readLog } from '../../src/engine/read-log.js';
import type { Store } from '../../src/ports/store.js';
import { effect, Pawl, systemClock, task } from '../../src/index.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { groundOn, remoteApp, sqliteUrl } from './ground.js';

const RESULT = { timeout: '200s' } as const;
const ONCE = { retry: { maxRetries: 0 } } as const;

/** What the child of an order does, and for how much it is asked. */
type World = { cents: number; pay: 'refused' | 'charged' | 'asked'; readonly charged: number[] };

async function shop(first: World['pay'], store: Store | string = sqliteUrl()) {
  const world: World = { cents: 12, pay: first, charged: [] };
  const charge = effect({ name: 'charge', run: (cents: number) => (world.charged.push(cents), null) });
  const pay = task({ name: 'pay', ...ONCE }, async ({ input, step }) => {
    if (world.pay === 'asked') await step.waitFor('approval');
    if (world.pay !== 'refused') await step.effect('charge', charge, input as number);
    throw new Error('no receipt');
  });
  const order = task({ name: 'order', ...ONCE }, ({ step }) => step.call('payment', pay, world.cents));
  const { app: server, serving, key } = await groundOn(store);
  const app = await remoteApp(serving.url, { key: await key(), tasks: [order, pay], work: { lease: '1m' } });
  const { job } = await app.start(order, null);
  await expect(job.result(RESULT)).rejects.toMatchObject({ code: 'JOB_FAILED' });
  const again = async (which: 'order' | 'payment') => {
    const letters = await server.deadLetters.list({ tenantId: 'acme' });
    const { dlqId } = letters.find(({ jobId }) => (jobId === job.id) === (which === 'order')) ?? {};
    return server.deadLetters.requeue(`${dlqId}`, { by: 'ann', keepRecorded: true });
  };
  /** How often an attempt of a job was broken off. */
  const brokenOff = async ({ id }: Requeued) => {
    const events = eventsIn(await readLog(Pawl.inside(server).engine.store, id));
    return events.filter(({ type }) => type === 'attempt.interrupted').length;
  };
  return { world, job, again, brokenOff };
}

type Requeued = Awaited<ReturnType<Pawl['deadLetters']['requeue']>>;
const code = async (job: Requeued) => (await job.why()).code;

test('GUA-6 another child than the one that has charged parks the job', async () => {
  const { world, again, brokenOff } = await shop('charged');
  world.cents = 13;
  const next = await again('order');
  await expect.poll(() => code(next)).toBe('nondeterminism');
  expect(world.charged).toEqual([12]);
  expect(await brokenOff(next)).toBe(0);
});

test('GUA-6 another child than the one that has charged since it was requeued by itself parks the job', async () => {
  const { world, again, brokenOff } = await shop('refused');
  world.pay = 'charged';
  await expect((await again('payment')).result(RESULT)).rejects.toMatchObject({ code: 'JOB_FAILED' });
  world.cents = 13;
  const next = await again('order');
  await expect.poll(() => code(next)).toBe('nondeterminism');
  expect(world.charged).toEqual([12]);
  expect(await brokenOff(next)).toBe(0);
});

test('GUA-6 another child than the one that was requeued by itself waits for the end of that', async () => {
  const { world, again, brokenOff } = await shop('refused');
  world.pay = 'asked';
  const payment = await again('payment');
  await expect.poll(async () => (await payment.status()).status).toBe('waiting');
  world.cents = 13;
  const next = await again('order');
  await expect.poll(async () => (await next.status()).status).toBe('waiting');
  expect((await next.why()).code).not.toBe('nondeterminism');
  await payment.signal('approval', 'yes');
  await expect.poll(() => code(next)).toBe('nondeterminism');
  expect(world.charged).toEqual([12]);
  expect(await brokenOff(next)).toBe(0);
});

test('GUA-6 another child than one that is requeued while it is looked for waits for the end of that', async () => {
  const inner = memoryStore({ clock: systemClock });
  const meanwhile: (() => Promise<unknown>)[] = [];
  let order = '';
  const resolve: Store['resolve'] = async (identities) => {
    const found = await inner.resolve(identities);
    const isOfChild = identities.some(({ kind, value }) => kind === 'successor' && value !== order);
    if (isOfChild) await meanwhile.pop()?.();
    return found;
  };
  const { world, job, again, brokenOff } = await shop('refused', { ...inner, resolve });
  order = job.id;
  let payment: Requeued | null = null;
  meanwhile.push(async () => (payment = await again('payment')));
  world.pay = 'asked';
  world.cents = 13;
  const next = await again('order');
  await expect.poll(async () => (await next.status()).status).toBe('waiting');
  expect((await next.why()).code).not.toBe('nondeterminism');
  await (payment as Requeued | null)?.signal('approval', 'yes');
  await expect.poll(() => code(next)).toBe('nondeterminism');
  expect(world.charged).toEqual([12]);
  expect(await brokenOff(next)).toBe(0);
});
