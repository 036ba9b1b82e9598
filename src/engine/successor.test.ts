import { expect, test } from 'vitest';
import { onEveryStore, type Fresh } from '../../test/on-every-store.js';
import { Pawl } from '../client/app.js';
import { effect } from '../client/effect.js';
import { task } from '../client/task.js';
import { advanceUntil, type TestApp } from '../testkit/index.js';
import { retryAsNew } from './retry-as-new.js';

const HOUR_MS = 3_600_000;

/** An order that fails, or waits, behind a charge, until it is mended. */
function shop() {
  const state = { entries: 0, isMended: false };
  const charge = effect({ name: 'charge', run: () => ++state.entries });
  const pay = task({ name: 'pay', retry: { maxRetries: 0 } }, async ({ step }) => {
    await step.effect('charge', charge, null);
    if (!state.isMended) throw new Error('the bank is closed');
    return step.effect('receipt', charge, null);
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
    const paid = await step.call('payment', pay, null);
    await step.waitFor('parcel');
    return paid;
  });
  return { state, order, pay };
}

/** With a job of it that was cancelled while it waited. */
async function cancelled(fresh: Fresh) {
  const { state, order, pay } = shop();
  state.isMended = true;
  const rig = await fresh.app({ tasks: [order, pay] });
  const { job } = await rig.app.start(order, null);
  await advanceUntil(rig.clock, async () => (await job.status()).status === 'waiting');
  await advanceUntil(rig.clock, async () => state.entries === 2);
  await job.cancel();
  return { rig, job, state };
}

const again = ({ app }: TestApp, jobId: string, seed: number) => {
  const { engine } = Pawl.inside(app);
  const newId = engine.newId(seed);
  return retryAsNew(engine, jobId, { tenantId: null, actor: 'operator:ann', newId, keepRecorded: true });
};

onEveryStore((fresh) => {
  test('GUA-4 two jobs cannot go on with the same record: each would do what is left of it', async () => {
    const { rig, job } = await cancelled(fresh);
    const answers = await Promise.allSettled([again(rig, job.id, 1), again(rig, job.id, 2)]);
    const made = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value.spec.jobId] : []));
    expect(made).toHaveLength(1);
    await expect(again(rig, job.id, 3)).rejects.toMatchObject({
      code: 'CONTINUED_ALREADY',
      details: { jobId: job.id, continuedBy: made[0] },
    });
    const { engine } = Pawl.inside(rig.app);
    const plainly = { tenantId: null, actor: 'operator:bob', newId: engine.newId(4) };
    await expect(retryAsNew(engine, job.id, plainly)).rejects.toMatchObject({ code: 'CONTINUED_ALREADY' });
  });

  test('GUA-4 a child whose letter was requeued by itself: its parent goes on with what became of that', async () => {
    const { state, order, pay } = shop();
    const rig = await fresh.app({ tasks: [order, pay] });
    const { job } = await rig.app.start(order, null);
    await rig.ended(job);
    state.isMended = true;
    // One of them, or both: whichever comes first goes on with the child.
    await rig.app.deadLetters.requeueAll({ by: 'ann', keepRecorded: true });
    const letters = await rig.app.deadLetters.list({ status: 'requeued' });
    const parent = rig.app.job(`${letters.find(({ jobId }) => jobId === job.id)?.requeuedAs}`);
    await parent.signal('parcel', null);
    expect(await rig.ended(parent)).toMatchObject({ status: 'succeeded', result: '2' });
    expect(state.entries).toBe(2);
  });

  test('GUA-8 a signal that the old job had not read comes to the new one', async () => {
    const { rig, job, state } = await cancelled(fresh);
    // Kept for whoever asks: here nobody did in time.
    await rig.store.putMessage({ jobId: job.id, key: 'parcel', payload: '"it is there"' });
    const next = rig.app.job((await again(rig, job.id, 1)).spec.jobId);
    expect(await rig.ended(next)).toMatchObject({ status: 'succeeded', result: '2' });
    expect(state.entries).toBe(2);
  });

  test('GUA-14 a job is kept for as long as the one that goes on with it', async () => {
    const { state, order, pay } = shop();
    const rig = await fresh.app({ tasks: [order, pay], retention: { keep: '1h' } });
    const { job } = await rig.app.start(order, null);
    await rig.ended(job);
    state.isMended = true;
    const letter = (await rig.app.deadLetters.list()).find(({ jobId }) => jobId === job.id);
    const keeping = { by: 'ann', keepRecorded: true };
    const next = await rig.app.deadLetters.requeue(`${letter?.dlqId}`, keeping);
    await advanceUntil(rig.clock, async () => (await next.status()).status === 'waiting');
    const waitingAt = rig.clock.now();
    await advanceUntil(rig.clock, async () => rig.clock.now() > waitingAt + 10 * HOUR_MS);
    expect((await job.status()).status).toBe('failed');
    await next.signal('parcel', null);
    expect((await rig.ended(next)).status).toBe('succeeded');
    for (const { id } of [next, job])
      await advanceUntil(rig.clock, async () => (await rig.store.load(id)).found === null);
    expect(state.entries).toBe(2);
  });

  test('GUA-4 where the old job is gone nobody knows what happened: the new one fails, and enters nothing', async () => {
    const { rig, job, state } = await cancelled(fresh);
    const pause = (paused: boolean) => rig.store.pauseQueue({ queue: 'default', paused, by: 'ann' });
    await pause(true);
    const next = rig.app.job((await again(rig, job.id, 1)).spec.jobId);
    await rig.store.purge({ jobs: [{ jobId: job.id, guard: null }], identityTtlMs: HOUR_MS });
    await pause(false);
    expect((await rig.ended(next)).failure).toMatchObject({ code: 'CONTINUED_JOB_GONE' });
    expect(state.entries).toBe(2);
  });

  test('JOB-8 what is kept cannot be repeated as well', async () => {
    const { rig, job } = await cancelled(fresh);
    const { engine } = Pawl.inside(rig.app);
    const both = { keepRecorded: true, repeatEffects: true };
    const asked = { tenantId: null, actor: 'operator:ann', newId: engine.newId(1), ...both };
    await expect(retryAsNew(engine, job.id, asked)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });
});
