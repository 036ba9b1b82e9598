import { expect, test } from 'vitest';
import { effect, noEffect, task } from '../index.js';
import { onEveryStore, type Fresh } from '../../test/on-every-store.js';
import { Pawl } from '../client/app.js';
import { prng } from '../testkit/prng.js';
import { retryAsNew } from './retry-as-new.js';

/** A job that fails behind an effect, of its own or of one that it calls. */
async function failedBehindEffect(fresh: Fresh, how: 'happens' | 'is refused' | 'happens in a child') {
  let entries = 0;
  let works = false;
  const charge = effect({
    name: 'charge',
    run: () => {
      entries += 1;
      if (how === 'is refused' && !works) throw noEffect(new Error('no connection'));
      return 'paid';
    },
  });
  const pay = task({ name: 'pay' }, ({ step }) => step.effect('charge', charge, 12));
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
    if (how === 'happens in a child') await step.call('payment', pay, null);
    else await step.effect('charge', charge, 12);
    if (!works) throw new Error('out of stock');
    return 'sent';
  });
  const rig = await fresh.app({ tasks: [order, pay] });
  const { job } = await rig.app.start(order, null);
  await rig.ended(job);
  const [{ dlqId } = { dlqId: '' }] = await rig.app.deadLetters.list();
  works = true;
  return { rig, job, dlqId, entries: () => entries };
}

onEveryStore((fresh) => {
  test.each(['happens', 'happens in a child'] as const)(
    'GUA-4 JOB-8 an effect that %s is not entered again by who requeues, unless that is asked for',
    async (how) => {
      const { rig, job, dlqId, entries } = await failedBehindEffect(fresh, how);
      const { deadLetters } = rig.app;
      const step = how === 'happens' ? 'charge#1' : 'payment#1 > charge#1';
      await expect(deadLetters.requeue(dlqId, { by: 'ann' })).rejects.toMatchObject({
        code: 'EFFECTS_HAPPENED',
        details: { jobId: job.id, effects: [step] },
      });
      const nothing = { requeued: 0, passedOver: 1 };
      expect(await deadLetters.requeueAll({ by: 'ann', dryRun: true })).toEqual(nothing);
      expect(await deadLetters.requeueAll({ by: 'ann' })).toEqual(nothing);
      const { engine } = Pawl.inside(rig.app);
      const again = { tenantId: null, actor: 'operator:ann', newId: engine.newId(prng(1).int(100)) };
      await expect(retryAsNew(engine, job.id, again)).rejects.toMatchObject({ code: 'EFFECTS_HAPPENED' });
      expect([(await deadLetters.get(dlqId)).status, entries()]).toEqual(['open', 1]);

      const second = await deadLetters.requeue(dlqId, { by: 'ann', repeatEffects: true });
      expect((await rig.ended(second)).status).toBe('succeeded');
      expect(entries()).toBe(2);
    },
  );

  test('JOB-8 one that is known not to have happened is in nobody’s way', async () => {
    const { rig, dlqId, entries } = await failedBehindEffect(fresh, 'is refused');
    const second = await rig.app.deadLetters.requeue(dlqId, { by: 'ann' });
    expect((await rig.ended(second)).status).toBe('succeeded');
    expect(entries()).toBe(2);
  });

  test('GUA-4 a job that succeeded, and whose effects happened, is not done once more unless that is asked for', async () => {
    const { rig, dlqId } = await failedBehindEffect(fresh, 'happens');
    const done = await rig.app.deadLetters.requeue(dlqId, { by: 'ann', repeatEffects: true });
    await rig.ended(done);
    const { engine } = Pawl.inside(rig.app);
    const again = { tenantId: null, actor: 'operator:ann', newId: engine.newId(prng(2).int(100)) };
    await expect(retryAsNew(engine, done.id, again)).rejects.toMatchObject({ code: 'EFFECTS_HAPPENED' });
    const job = await retryAsNew(engine, done.id, { ...again, repeatEffects: true });
    expect((await rig.ended(rig.app.job(job.spec.jobId))).status).toBe('succeeded');
  });
});
