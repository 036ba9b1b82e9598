import { expect, onTestFinished, test } from 'vitest';
import { goOn } from '../../test/go-on.js';
import { Pawl } from '../client/app.js';
import { effect } from '../client/effect.js';
import { task } from '../client/task.js';
import type { Duration } from '../engine/duration.js';
import { holdRestored } from '../engine/hold-restored.js';
import { UnreadableLog } from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp } from '../testkit/index.js';

function family(timeout?: Duration) {
  const s = { entered: [] as string[], mended: false };
  const charge = effect<string, null>({ name: 'charge', run: (w) => (s.entered.push(w), null) });
  const pay = task({ name: 'pay', retry: { maxRetries: 0 } }, async ({ step }) => {
    await step.effect('charge', charge, 'charge');
    if (!s.mended) throw new Error('closed');
    await step.sleep('settle', '1m');
    await step.effect('receipt', charge, 'receipt');
    return 'paid';
  });
  const order = task(
    { name: 'order', retry: { maxRetries: 0 }, ...(timeout ? { timeout } : {}) },
    ({ step }) => step.call('payment', pay, null),
  );
  return { s, order, pay };
}

async function requeued(concurrency: number, timeout?: Duration) {
  const { s, order, pay } = family(timeout);
  const rig = await testApp({ tasks: [order, pay], work: { concurrency, poll: '1s' } });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  await rig.ended(job);
  s.mended = true;
  const letters = await rig.app.deadLetters.list();
  const of = (isParent: boolean) => `${letters.find(({ jobId }) => (jobId === job.id) === isParent)?.dlqId}`;
  await rig.app.deadLetters.requeue(of(false), { by: 'ann', keepRecorded: true });
  const parent = await rig.app.deadLetters.requeue(of(true), { by: 'ann', keepRecorded: true });
  return { rig, s, parent };
}

test('GUA-9 a child and then its parent are requeued: a worker that runs one job at a time brings both to their end', async () => {
  const { rig, s, parent } = await requeued(1);
  const begun = rig.clock.now();
  await advanceUntil(
    rig.clock,
    async () => (await parent.status()).finishedAt !== null || rig.clock.now() > begun + 3_600_000,
  );
  const ended = await parent.status();
  expect(ended).toMatchObject({ status: 'succeeded' });
  expect(s.entered).toEqual(['charge', 'receipt']);
});

test('DEC-8 waiting for the requeued child does not use up the time of an attempt', async () => {
  const { rig, parent } = await requeued(10, '30s');
  const ended = await rig.ended(parent);
  expect(ended).toMatchObject({ status: 'succeeded' });
});

test('GUA-9 a job that waited for the child of the job before, and was cancelled, asks for it no more', async () => {
  const clock = fakeClock(T0);
  const inner = memoryStore({ clock });
  let loads = 0;
  let watched = '';
  const load: Store['load'] = (jobId) => {
    if (jobId === watched) loads += 1;
    return inner.load(jobId);
  };
  let mended = false;
  const pay = task({ name: 'pay', retry: { maxRetries: 0 } }, async ({ step }) => {
    if (!mended) throw new Error('closed');
    await step.waitFor('go');
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
    step.call('payment', pay, null),
  );
  const rig = await testApp({ tasks: [order, pay], clock, store: { ...inner, load } });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  await rig.ended(job);
  mended = true;
  const letters = await rig.app.deadLetters.list();
  const of = (isParent: boolean) => letters.find(({ jobId }) => (jobId === job.id) === isParent);
  watched = `${of(false)?.jobId}`;
  await rig.app.deadLetters.requeue(`${of(false)?.dlqId}`, { by: 'ann', keepRecorded: true });
  await rig.idle();
  const parent = await rig.app.deadLetters.requeue(`${of(true)?.dlqId}`, { by: 'ann', keepRecorded: true });
  const at = clock.now();
  await advanceUntil(clock, async () => clock.now() > at + 5_000);
  await parent.cancel();
  await rig.idle();
  loads = 0;
  const from = clock.now();
  await advanceUntil(clock, async () => clock.now() > from + 600_000);
  expect(loads).toBeLessThan(5);
});

/** Jobs that cannot be read any more. */
function damagedStore() {
  const clock = fakeClock(T0);
  const inner = memoryStore({ clock });
  const damaged = new Set<string>();
  const load: Store['load'] = async (jobId) => {
    if (damaged.has(jobId))
      throw new UnreadableLog({ jobId, rev: 1 }, { code: 'EVENT_UNREADABLE', problem: 'damaged' });
    return inner.load(jobId);
  };
  return { clock, store: { ...inner, load }, damaged, inner };
}

test('GUA-9 a child whose job before cannot be read keeps no other child from being started', async () => {
  const { clock, store, damaged } = damagedStore();
  let mended = false;
  const pay = task({ name: 'pay', retry: { maxRetries: 0 } }, async ({ step }) => {
    await step.run('a', () => 1);
    if (!mended) throw new Error('broken');
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
    step.call('payment', pay, null),
  );
  const other = task({ name: 'other' }, ({ step }) => step.call('leaf', leaf, null));
  const leaf = task({ name: 'leaf' }, () => 'leaf');
  const held = { on: false };
  const takeOutbox: Store['takeOutbox'] = async (asked) => {
    if (held.on) return { entries: [], now: clock.now() };
    return store.takeOutbox(asked);
  };
  const rig = await testApp({
    tasks: [order, pay, other, leaf],
    clock,
    store: { ...store, takeOutbox },
    work: { lease: '30s', poll: '1s' },
  });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  await rig.ended(job);
  mended = true;
  const childId = (await rig.app.deadLetters.list()).find(({ jobId }) => jobId !== job.id)?.jobId ?? '';
  held.on = true;
  const next = await goOn(rig, job);
  await advanceUntil(clock, async () => (await next.status()).status === 'waiting');
  damaged.add(childId);
  held.on = false;
  const { job: plain } = await rig.app.start(other, null);
  const at = clock.now();
  await advanceUntil(
    clock,
    async () => (await plain.status()).finishedAt !== null || clock.now() > at + 600_000,
  );
  expect((await plain.status()).status).toBe('succeeded');
});

test('GUA-9 a successor that cannot be read keeps no other job from being purged', async () => {
  const { clock, store, damaged, inner } = damagedStore();
  const order = task({ name: 'order' }, async ({ step }) => {
    await step.waitFor('x');
  });
  const plainTask = task({ name: 'plain' }, () => 1);
  const rig = await testApp({ tasks: [order, plainTask], clock, store, retention: { keep: '1h' } });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  await rig.idle();
  await job.cancel();
  const next = await goOn(rig, job);
  await rig.idle();
  const { job: plain } = await rig.app.start(plainTask, null);
  await rig.ended(plain);
  damaged.add(next.id);
  const at = clock.now();
  await advanceUntil(
    clock,
    async () => (await inner.load(plain.id)).found === null || clock.now() > at + 86_400_000,
  );
  expect((await inner.load(plain.id)).found).toBeNull();
});

test('GUA-9 after a restore, a child that its parent had asked for and that was not started yet is held', async () => {
  const clock = fakeClock(T0);
  const inner = memoryStore({ clock });
  const s = { mended: false, held: false, entered: [] as string[] };
  const takeOutbox: Store['takeOutbox'] = async (asked) =>
    s.held ? { entries: [], now: clock.now() } : inner.takeOutbox(asked);
  const store = { ...inner, takeOutbox };
  const act = effect<string, null>({ name: 'act', run: (w) => (s.entered.push(w), null) });
  const pay = task({ name: 'pay', retry: { maxRetries: 0 } }, async ({ step }) => {
    if (!s.mended) throw new Error('closed');
    await step.waitFor('go', { timeout: '1d' });
    await step.effect('charge', act, 'charged');
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
    step.call('payment', pay, null),
  );
  const first = await testApp({ tasks: [order, pay], clock, store, seed: 1 });
  const { job } = await first.app.start(order, null);
  await first.ended(job);
  s.mended = true;
  const letters = await first.app.deadLetters.list();
  const childLetter = letters.find(({ jobId }) => jobId !== job.id);
  s.held = true;
  const parent = await goOn(first, job);
  await advanceUntil(clock, async () => (await parent.status()).status === 'waiting');
  const byItself = await first.app.deadLetters.requeue(`${childLetter?.dlqId}`, {
    by: 'ann',
    keepRecorded: true,
  });
  await first.idle();
  s.held = false;
  // The backup is of this moment.
  await first.run(first.app.stop());
  const restored = await testApp({ tasks: [order, pay], clock, store, seed: 2, work: false });
  const { engine } = Pawl.inside(restored.app);
  await holdRestored(engine, { tasks: null, except: [], by: 'ann' });
  // It has done its work: as the document says, it is cancelled.
  await restored.app.job(byItself.id).cancel();
  const worker = await testApp({ tasks: [order, pay], clock, store, seed: 3 });
  onTestFinished(() => worker.stop());
  const at = clock.now();
  await advanceUntil(clock, async () => s.entered.length > 0 || clock.now() > at + 3 * 86_400_000);
  expect(s.entered).toEqual([]);
});
