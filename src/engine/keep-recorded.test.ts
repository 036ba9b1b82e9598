import { expect, test } from 'vitest';
import { effect, task } from '../index.js';
import { onEveryStore, type Fresh } from '../../test/on-every-store.js';
import type { JobHandle } from '../client/job-handle.js';
import type { AnyTask } from '../client/task.js';
import type { TestApp } from '../testkit/index.js';
import { verifyStore } from './evidence/verify-store.js';
import { readSteps } from './read-log.js';

/** The letter of a job that failed, requeued so that the new one goes on with what is recorded. */
async function goOn({ app }: TestApp): Promise<JobHandle> {
  const [letter] = await app.deadLetters.list();
  if (!letter) throw new Error('there is no dead letter');
  return app.deadLetters.requeue(letter.dlqId, { by: 'ann', keepRecorded: true });
}

/** An app with a task of which one job has failed. */
async function failed(
  fresh: Fresh,
  tasks: readonly [AnyTask, ...AnyTask[]],
  signals: readonly string[] = [],
) {
  const rig = await fresh.app({ tasks });
  const { job } = await rig.app.start(tasks[0], null);
  for (const key of signals) await job.signal(key, `the ${key}`);
  await rig.ended(job);
  return { rig, job };
}

const expectSound = async ({ store }: TestApp): Promise<void> =>
  expect((await verifyStore(store)).broken).toEqual([]);

onEveryStore((fresh) => {
  test('GUA-4 JOB-8 a requeued job goes on where the failed one was: nothing that is recorded is done again', async () => {
    const done: string[] = [];
    const keys = new Set<string>();
    let works = false;
    const note = (what: string) => void done.push(what);
    const charge = effect<number, string>({
      name: 'charge',
      run: (cents, { idempotencyKey }) => {
        note(`charge ${cents}`);
        keys.add(idempotencyKey);
        return `ch_${cents}`;
      },
    });
    const ship = task({ name: 'ship' }, ({ step }) => step.effect('postage', charge, 5));
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
      const [id, at] = [await step.uuid(), await step.now()];
      const quote = await step.run('quote', () => (note('quote'), 12));
      const paid = await step.effect('charge', charge, quote);
      const approved = await step.waitFor('approval');
      await step.sleep('cool off', '30d');
      const sent = await step.call('shipment', ship, null);
      await step.run('pack', () => {
        note('pack');
        if (!works) throw new Error('out of boxes');
      });
      return { id, at, paid, approved, sent };
    });
    const { rig, job } = await failed(fresh, [order, ship], ['approval']);
    expect(done).toEqual(['quote', 'charge 12', 'charge 5', 'pack']);
    works = true;
    const [begunAt, next] = [rig.clock.now(), await goOn(rig)];
    const ended = await rig.ended(next);
    expect(ended).toMatchObject({
      status: 'succeeded',
      retryCount: 0,
      spec: { continues: { jobId: job.id, origin: job.id } },
    });
    // A month is not slept twice.
    expect(rig.clock.now() - begunAt).toBeLessThan(86_400_000);
    const steps = await readSteps(rig.store, job.id);
    const drawn = (step: string) => {
      const known = steps.get({ step, occurrence: 1 });
      return JSON.parse((known?.kind === 'run' ? known.output : null) ?? 'null') as unknown;
    };
    expect(JSON.parse(ended.result ?? 'null')).toEqual({
      id: drawn('$uuid'),
      at: drawn('$now'),
      paid: 'ch_12',
      approved: 'the approval',
      sent: 'ch_5',
    });
    expect(done).toEqual(['quote', 'charge 12', 'charge 5', 'pack', 'pack']);
    expect(keys.size).toBe(2);
    await expectSound(rig);
  });

  test('GUA-12 a loop goes on from its checkpoint, and its steps are counted on from there', async () => {
    const ran: number[] = [];
    let broken = 25;
    const loop = task({ name: 'loop', retry: { maxRetries: 0 } }, async ({ step }) => {
      const state = step.resume({ next: 0 });
      if (state.next === 0) await step.run('once', () => void ran.push(-1));
      for (; state.next < 50; state.next++) {
        await step.run('add', () => {
          if (state.next === broken) throw new Error('broken');
          ran.push(state.next);
        });
        if (state.next % 10 === 9) await step.checkpoint({ next: state.next + 1 });
      }
    });
    const { rig } = await failed(fresh, [loop]);
    broken = 38;
    const second = await goOn(rig);
    expect((await rig.ended(second)).status).toBe('failed');
    broken = -1;
    const third = await goOn(rig);
    const { status, spec } = await rig.ended(third);
    expect([status, spec.continues?.jobId]).toEqual(['succeeded', second.id]);
    expect(ran).toEqual([-1, ...Array.from({ length: 50 }, (_, n) => n)]);
    const recorded = await readSteps(rig.store, third.id);
    expect(recorded.get({ step: 'add', occurrence: 50 })).toMatchObject({ kind: 'run' });
    expect(recorded.occurrences()).toMatchObject({ add: 50 });
    await expectSound(rig);
  });

  test('JOB-8 a job whose requeue failed before its first step leaves all that is kept to the next', async () => {
    let entries = 0;
    let broken: 'start' | 'end' | null = 'end';
    const charge = effect({ name: 'charge', run: () => ++entries });
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
      if (broken === 'start') throw new Error('no configuration');
      const paid = await step.effect('charge', charge, null);
      if (broken === 'end') throw new Error('out of stock');
      return paid;
    });
    const { rig, job } = await failed(fresh, [order]);
    broken = 'start';
    const second = await goOn(rig);
    await rig.ended(second);
    const [letter] = await rig.app.deadLetters.list();
    await expect(rig.app.deadLetters.requeue(`${letter?.dlqId}`, { by: 'ann' })).rejects.toMatchObject({
      code: 'EFFECTS_HAPPENED',
      details: { effects: ['charge#1', `${job.id} > charge#1`] },
    });
    broken = null;
    const third = await rig.ended(await goOn(rig));
    expect([third.status, third.result, third.spec.continues]).toEqual([
      'succeeded',
      '1',
      { jobId: second.id, origin: job.id },
    ]);
    expect(entries).toBe(1);
  });
});
