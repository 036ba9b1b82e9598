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
