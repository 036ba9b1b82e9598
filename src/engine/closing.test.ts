import { expect, onTestFinished, test } from 'vitest';
import { newCluster } from '../../test/new-cluster.js';
import { Pawl } from '../client/app.js';
import { effect, happened } from '../client/effect.js';
import { task } from '../client/task.js';
import { PawlError } from '../errors.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, Link, T0, testApp } from '../testkit/index.js';
import { untilAnswered } from './until-answered.js';

const CLOSED = { status: 'rejected', reason: { code: 'APP_CLOSED' } };
const quick = task({ name: 'quick' }, () => 1);

/** An application whose store can be cut off. */
async function ground() {
  const clock = fakeClock(T0);
  const link = new Link({ ...memoryStore({ clock }), close: async () => undefined });
  const rig = await testApp({ tasks: [quick], clock, store: link.store, work: false });
  return { ...rig, link, engine: Pawl.inside(rig.app).engine };
}

test('GUA-11 whoever waits for a store that does not answer is told when the app is closed', async () => {
  const { app, link, engine, idle, run } = await ground();
  link.down = true;
  let asked = 0;
  const ask = async () => {
    asked += 1;
    throw new PawlError('STORE_UNAVAILABLE', { detail: 'it is gone' });
  };
  const waiting = Promise.allSettled([
    app.start(quick, null),
    app.job('some-job-1').signal('go', 1),
    untilAnswered(engine, ask),
  ]);
  await idle();
  await run(app.close());
  expect(await run(waiting)).toMatchObject([
    CLOSED,
    { status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } },
    CLOSED,
  ]);
  // One that learns only then that the store is gone does not wait for it any more, either.
  await expect(untilAnswered(engine, ask)).rejects.toMatchObject({ code: 'APP_CLOSED' });
  expect(asked).toBe(2);
});

test('JOB-8 requeueing at a rate ends when the app is closed, and passes nothing over because of it', async () => {
  const { app, run, idle, clock, store } = await ground();
  const failing = task({ name: 'failing', retry: { maxRetries: 0 } }, () => {
    throw new Error('always');
  });
  const worker = await testApp({ tasks: [failing], clock, store, seed: 2 });
  onTestFinished(() => worker.stop());
  for (let n = 0; n < 3; n++) await worker.ended((await worker.app.start(failing, n)).job);
  const requeueing = Promise.allSettled([app.deadLetters.requeueAll({ by: 'ann', perSecond: 0.001 })]);
  await idle();
  await run(app.close());
  expect(await run(requeueing)).toMatchObject([CLOSED]);
});

test('JOB-8 a store that cannot be written to is no reason to pass dead letters over', async () => {
  const { app, run, clock, store } = await ground();
  const failing = task({ name: 'failing', retry: { maxRetries: 0 } }, () => {
    throw new Error('always');
  });
  const worker = await testApp({ tasks: [failing], clock, store, seed: 2 });
  await worker.ended((await worker.app.start(failing, null)).job);
  await worker.stop();
  const readOnly = {
    ...store,
    commit: () => Promise.reject(new PawlError('STORE_READ_ONLY', { detail: 'a standby' })),
  };
  const other = await testApp({ tasks: [failing], clock, store: readOnly, work: false, seed: 3 });
  onTestFinished(() => other.stop());
  const requeueing = run(other.app.deadLetters.requeueAll({ by: 'ann' }));
  await expect(requeueing).rejects.toMatchObject({ code: 'STORE_READ_ONLY' });
  await run(app.close());
});

test('GUA-4 a result is tried to be kept as long as its worker drains', async () => {
  const cluster = newCluster();
  const link = new Link(cluster.store);
  let isEntered = false;
  const charge = effect({
    name: 'charge',
    run: () => {
      isEntered = true;
      link.down = true;
      return 'ch_1';
    },
    reconcile: () => happened('found'),
  });
  const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 1));
  const rig = await cluster.join([order], {}, link.store);
  const { job } = await rig.app.start(order, null);
  await advanceUntil(cluster.clock, () => isEntered);
  cluster.clock.after(8_000, () => {
    link.down = false;
  });
  await rig.run(rig.app.close());
  expect((await cluster.store.load(job.id)).found?.job).toMatchObject({
    status: 'succeeded',
    result: '"ch_1"',
  });
});

test('GUA-11 a handler whose job could not even be handed back is told when its worker has stopped', async () => {
  const cluster = newCluster();
  const link = new Link(cluster.store);
  const heard: string[] = [];
  const endless = task({ name: 'endless' }, ({ signal }) => {
    signal.addEventListener('abort', () => heard.push('stop'));
    return new Promise(() => undefined);
  });
  const rig = await cluster.join([endless], { lease: '1h' }, link.store);
  await rig.app.start(endless, null);
  await rig.idle();
  link.down = true;
  await rig.run(rig.app.stop());
  expect(heard).toEqual(['stop']);
});

/** Answers after a moment, and once it is closed with an error of its own, as drivers do. */
function slowStore(clock: ReturnType<typeof fakeClock>, { never = false } = {}) {
  const state = { isClosed: false };
  const inner = memoryStore({ clock });
  const store = new Proxy(inner, {
    get: (target, name: keyof typeof inner) => {
      if (name === 'close') return async () => void (state.isClosed = true);
      const method = target[name] as (...asked: unknown[]) => unknown;
      if (name === 'wake' || name === 'listen') return method;
      return async (...asked: unknown[]) => {
        const isHeld = never && name === 'commit';
        await new Promise((resolve) => (isHeld ? null : void clock.after(10, () => resolve(null))));
        if (state.isClosed) throw new Error('Cannot use a pool after calling end on the pool');
        return method(...asked);
      };
    },
  });
  return { store, inner };
}

test('DEC-5 closing lets calls under way end, and every call after it is told that the app is closed', async () => {
  const clock = fakeClock(T0);
  const { store, inner } = slowStore(clock);
  const opening = testApp({ tasks: [quick], clock, store, work: false });
  const { app, run } = await advanceUntil(clock, opening);
  const { job } = await run(app.start(quick, null));
  const many = app.startMany(
    quick,
    Array.from({ length: 2_000 }, () => ({ input: null })),
  );
  const single = Array.from({ length: 20 }, () => app.start(quick, null));
  const closing = app.close();
  await run(Promise.all([closing, many, ...single]));
  expect((await inner.counts({ tenantId: null })).counts).toMatchObject({ queued: 2_021 });
  const calls = [
    app.start(quick, null),
    job.status(),
    job.result(),
    job.signal('go', 1),
    job.cancel(),
    app.why(job.id),
    app.counts(),
    app.deadLetters.list(),
    app.schedules.list(),
    app.alerts.list({ tenantId: 'default' }),
    app.evidence.verifyAll(),
    app.unknownEffects(),
  ];
  expect(await run(Promise.allSettled(calls))).toMatchObject(calls.map(() => CLOSED));
});

test('GUA-11 closing does not wait for ever for a call that the store does not answer', async () => {
  const clock = fakeClock(T0);
  const { store } = slowStore(clock, { never: true });
  const { app, run, idle } = await advanceUntil(
    clock,
    testApp({ tasks: [quick], clock, store, work: false }),
  );
  void app.start(quick, null).catch(() => undefined);
  await idle();
  const begun = clock.now();
  await run(app.close());
  expect(clock.now() - begun).toBe(5_000);
});
