import { expect, test } from 'vitest';
import { goOn } from '../../test/go-on.js';
import { onEveryStore } from '../../test/on-every-store.js';
import { Pawl } from '../client/app.js';
import { effect } from '../client/effect.js';
import { task } from '../client/task.js';
import { advanceUntil, type TestApp } from '../testkit/index.js';
import { retryAsNew } from './retry-as-new.js';

type Asked = { readonly keepRecorded?: boolean; readonly repeatEffects?: boolean; readonly newId?: string };

const again = ({ app }: TestApp, jobId: string, { newId, ...repeating }: Asked) => {
  const { engine } = Pawl.inside(app);
  const asked = { tenantId: null, actor: 'operator:ann', newId: newId ?? engine.newId(1), ...repeating };
  return retryAsNew(engine, jobId, asked);
};

/** An effect that says what it did. */
function acts() {
  const entered: string[] = [];
  const act = effect<string, null>({
    name: 'act',
    run: (what) => {
      entered.push(what);
      return null;
    },
  });
  return { entered, act };
}

onEveryStore((fresh) => {
  test('GUA-4 requeueAll, and then requeueAll with keepRecorded for what was passed over: nothing happens twice', async () => {
    const { entered, act } = acts();
    let isMended = false;
    const ship = task({ name: 'ship', retry: { maxRetries: 0 } }, async ({ step }) => {
      if (!isMended) throw new Error('no such carrier');
      await step.effect('parcel', act, 'parcel sent');
    });
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
      await step.effect('charge', act, 'charged');
      await step.call('shipment', ship, null);
    });
    const rig = await fresh.app({ tasks: [order, ship] });
    const { job } = await rig.app.start(order, null);
    await rig.ended(job);
    isMended = true;
    const plain = await rig.app.deadLetters.requeueAll({ by: 'ann' });
    const [child] = await rig.app.deadLetters.list({ status: 'requeued' });
    await rig.ended(rig.app.job(`${child?.requeuedAs}`));
    const kept = await rig.app.deadLetters.requeueAll({ by: 'ann', keepRecorded: true });
    const parent = (await rig.app.deadLetters.list({ status: 'requeued' })).find(
      ({ jobId }) => jobId === job.id,
    );
    const ended = await rig.ended(rig.app.job(`${parent?.requeuedAs}`));
    expect([plain, kept, ended.status]).toEqual([
      { requeued: 1, passedOver: 1 },
      { requeued: 1, passedOver: 0 },
      'succeeded',
    ]);
    expect(entered).toEqual(['charged', 'parcel sent']);
  });

  test('GUA-4 a job that is begun from the start is not gone on with beside it', async () => {
    const { entered, act } = acts();
    const order = task({ name: 'order' }, async ({ step }) => {
      await step.waitFor('go', { timeout: '1m' });
      await step.effect('charge', act, 'charged');
    });
    const rig = await fresh.app({ tasks: [order] });
    const { job } = await rig.app.start(order, null);
    await rig.idle();
    await job.cancel();
    const both = await Promise.allSettled([
      again(rig, job.id, { keepRecorded: false }),
      again(rig, job.id, { keepRecorded: true }),
    ]);
    for (const one of both)
      if (one.status === 'fulfilled') await rig.ended(rig.app.job(one.value.spec.jobId));
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(entered).toEqual(['charged']);
  });

  test('GUA-4 a plain requeue of a parent whose child is gone on with, and has charged, is refused', async () => {
    const { entered, act } = acts();
    let isMended = false;
    const pay = task({ name: 'pay', retry: { maxRetries: 0 } }, async ({ step }) => {
      await step.run('quote', () => 12);
      if (!isMended) throw new Error('closed');
      await step.effect('charge', act, 'charge');
    });
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
      step.call('payment', pay, null),
    );
    const rig = await fresh.app({ tasks: [order, pay] });
    const { job } = await rig.app.start(order, null);
    await rig.ended(job);
    isMended = true;
    const letters = await rig.app.deadLetters.list();
    const of = (isParent: boolean) =>
      `${letters.find(({ jobId }) => (jobId === job.id) === isParent)?.dlqId}`;
    const child = await rig.app.deadLetters.requeue(of(false), { by: 'ann', keepRecorded: true });
    expect((await rig.ended(child)).status).toBe('succeeded');
    expect(entered).toEqual(['charge']);
    await expect(rig.app.deadLetters.requeue(of(true), { by: 'bob' })).rejects.toMatchObject({
      code: 'EFFECTS_HAPPENED',
    });
    expect(entered).toEqual(['charge']);
  });

  test('GUA-4 a job is not begun from the start beside the one that goes on with it, while that is at it', async () => {
    const { entered, act } = acts();
    const order = task({ name: 'order' }, async ({ step }) => {
      await step.effect('charge', act, 'charge');
      await step.waitFor('x');
    });
    const rig = await fresh.app({ tasks: [order] });
    const { job } = await rig.app.start(order, null);
    await rig.idle();
    await job.cancel();
    const next = await goOn(rig, job);
    const repeated = { repeatEffects: true };
    await expect(again(rig, job.id, repeated)).rejects.toMatchObject({ code: 'CONTINUED_ALREADY' });
    // Once that has ended, whoever wants to may.
    await next.cancel();
    const { spec } = await again(rig, job.id, repeated);
    await advanceUntil(rig.clock, async () => entered.length === 2);
    // And it has the place now.
    await expect(goOn(rig, job)).rejects.toMatchObject({ details: { continuedBy: spec.jobId } });
  });

  test('GUA-4 only one job goes on with another, also when that one was purged and its keys expired', async () => {
    const { entered, act } = acts();
    let isMended = false;
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
      await step.effect('charge', act, 'charge');
      if (!isMended) throw new Error('broken');
      await step.effect('ship', act, 'ship');
    });
    // As docs/operating.md has it: failed jobs are kept for longer.
    const retention = { keep: '1d', rules: [{ status: 'failed', keep: '10d' }], keepKeys: '1d' } as const;
    const rig = await fresh.app({ tasks: [order], retention });
    const { job } = await rig.app.start(order, null);
    await rig.ended(job);
    isMended = true;
    const next = await goOn(rig, job);
    await rig.ended(next);
    expect(entered).toEqual(['charge', 'ship']);
    const at = rig.clock.now();
    await advanceUntil(rig.clock, async () => rig.clock.now() > at + 4 * 86_400_000);
    expect((await rig.store.load(next.id)).found).toBeNull();
    expect((await rig.store.load(job.id)).found).not.toBeNull();
    await expect(goOn(rig, job)).rejects.toMatchObject({ code: 'CONTINUED_ALREADY' });
    expect(entered).toEqual(['charge', 'ship']);
  });

  test.each([false, true])(
    'DEC-7 the same request once more gets the same job (keepRecorded: %s)',
    async (keepRecorded) => {
      const order = task({ name: 'order' }, async ({ step }) => {
        await step.run('quote', () => 1);
        await step.waitFor('parcel');
      });
      const rig = await fresh.app({ tasks: [order] });
      const { job } = await rig.app.start(order, null);
      await rig.idle();
      await job.cancel();
      const asked = { keepRecorded, newId: Pawl.inside(rig.app).engine.newId(1) };
      const first = await again(rig, job.id, asked);
      expect((await again(rig, job.id, asked)).spec).toEqual(first.spec);
      // Another one is beside it, in either way.
      for (const other of [true, false])
        await expect(again(rig, job.id, { keepRecorded: other })).rejects.toMatchObject({
          code: 'CONTINUED_ALREADY',
        });
    },
  );
});
