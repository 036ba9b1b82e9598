import { expect, onTestFinished, test } from 'vitest';
import { goOn, turns } from '../../test/go-on.js';
import { cannotTell, effect, happened, noEffect, notHappened } from '../client/effect.js';
import { task, type AnyTask } from '../client/task.js';
import { verifyStore } from '../engine/evidence/verify-store.js';
import { advanceUntil, testApp, type TestApp } from '../testkit/index.js';

async function appOf(...tasks: readonly AnyTask[]): Promise<TestApp> {
  const rig = await testApp({ tasks });
  onTestFinished(async () => {
    expect((await verifyStore(rig.store)).broken).toEqual([]);
    await rig.stop();
  });
  return rig;
}

/** An app with a task of which one job has failed. */
async function failed(order: AnyTask) {
  const rig = await appOf(order);
  const { job } = await rig.app.start(order, null);
  await rig.ended(job);
  return { rig, job };
}

test.each([
  ['happened', () => happened('found'), { status: 'succeeded', result: '"found"' }, 1],
  ['did not happen', () => notHappened(), { status: 'succeeded', result: '"paid"' }, 2],
  ['nobody can tell', () => cannotTell(), { status: 'failed', failure: { code: 'EFFECT_UNKNOWN' } }, 1],
] as const)(
  'GUA-4 an effect of unknown outcome is not entered: reconcile is asked by the same key, and %s',
  async (_, verdict, expected, entries) => {
    const keys: string[] = [];
    const asked: string[] = [];
    let knows = false;
    const charge = effect<null, string>({
      name: 'charge',
      onUnknown: 'fail',
      settle: '1m',
      run: (_input, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length === 1) throw new Error('connection reset');
        return 'paid';
      },
      reconcile: (_input, { idempotencyKey }) => {
        asked.push(idempotencyKey);
        return knows ? verdict() : cannotTell();
      },
    });
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
      step.effect('charge', charge, null),
    );
    const { rig, job } = await failed(order);
    knows = true;
    expect(await rig.ended(await goOn(rig, job))).toMatchObject(expected);
    expect(keys).toHaveLength(entries);
    expect(new Set([...keys, ...asked]).size).toBe(1);
    expect(asked).toHaveLength(2);
  },
);

test('GUA-4 without reconcile an operator decides', async () => {
  let entries = 0;
  const charge = effect({
    name: 'charge',
    run: () => {
      entries += 1;
      throw new Error('connection reset');
    },
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
    step.effect('charge', charge, null),
  );
  const rig = await appOf(order);
  const { job } = await rig.app.start(order, null);
  await rig.idle();
  await job.cancel({ reason: 'nobody knew' });
  const next = await goOn(rig, job);
  await rig.idle();
  expect(await next.status()).toMatchObject({ status: 'waiting', waits: [{ reason: 'effect_unknown' }] });
  const verdict = { verdict: 'happened', result: 'by hand' } as const;
  await rig.app.resolveEffect(next.id, { step: 'charge', by: 'ann', ...verdict });
  expect(await rig.ended(next)).toMatchObject({ status: 'succeeded', result: '"by hand"' });
  expect(entries).toBe(1);
});

test.each(['recorded', 'of unknown outcome'])(
  'GUA-3 a handler that enters an effect with something else, where one is %s, is parked: nothing is entered, and no code of its own can catch that',
  async (how) => {
    let cents = 12;
    const entered: number[] = [];
    const charge = effect<number, null>({
      name: 'charge',
      onUnknown: 'fail',
      run: (amount) => {
        entered.push(amount);
        if (how === 'recorded') return null;
        throw new Error('connection reset');
      },
    });
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
      await step.effect('charge', charge, cents).catch((error: unknown) => {
        if (cents !== 12) entered.push(0);
        throw error;
      });
      throw new Error('out of stock');
    });
    const { rig, job } = await failed(order);
    cents = 13;
    const next = await goOn(rig, job);
    await advanceUntil(rig.clock, async () => (await next.status()).status === 'waiting');
    expect((await next.why()).code).toBe('nondeterminism');
    expect(entered).toEqual([12]);
    cents = 12;
    await rig.app.resume(next.id, { by: 'ann' });
    expect((await rig.ended(next)).status).toBe('failed');
    expect(entered).toEqual([12]);
  },
);

test('GUA-4 one that provably did not happen is entered', async () => {
  let entries = 0;
  const charge = effect({
    name: 'charge',
    run: () => {
      entries += 1;
      if (entries === 1) throw noEffect(new Error('refused'));
      return 'paid';
    },
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
    step.effect('charge', charge, null),
  );
  const { rig, job } = await failed(order);
  expect(await rig.ended(await goOn(rig, job))).toMatchObject({ status: 'succeeded', result: '"paid"' });
});

test('GUA-4 a result that comes after the new job was told that nothing had happened is raised', async () => {
  const late: unknown[] = [];
  let arrive: (result: string) => void = () => undefined;
  let entries = 0;
  const charge = effect<null, string>({
    name: 'charge',
    timeout: '10s',
    settle: '1m',
    onUnknown: 'fail',
    run: () => {
      entries += 1;
      return entries === 1 ? new Promise<string>((resolve) => (arrive = resolve)) : 'paid';
    },
    reconcile: () => (entries === 1 && !asked ? cannotTell() : notHappened()),
  });
  let asked = false;
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
    step.effect('charge', charge, null),
  );
  const rig = await testApp({ tasks: [order], hooks: { lateResult: (one) => void late.push(one) } });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  await rig.ended(job);
  asked = true;
  expect(await rig.ended(await goOn(rig, job))).toMatchObject({ status: 'succeeded', result: '"paid"' });
  expect(late).toEqual([]);
  arrive('paid before');
  await rig.idle();
  expect(late).toMatchObject([{ jobId: job.id, step: 'charge', occurrence: 1, entry: 1 }]);
  expect(await rig.app.alerts.list()).toMatchObject([{ rule: 'effect_late_result' }]);
});

test.each(['reconcile', 'an operator'])(
  'GUA-4 a result that comes to the old job beats the word of %s that nothing happened',
  async (who) => {
    let arrive: (result: string) => void = () => undefined;
    let entries = 0;
    let isSecond = false;
    const charge = effect<null, string>({
      name: 'charge',
      timeout: '10s',
      settle: '1m',
      onUnknown: who === 'reconcile' ? 'fail' : 'park',
      run: () => {
        entries += 1;
        return entries === 1 ? new Promise<string>((resolve) => (arrive = resolve)) : 'paid twice';
      },
      ...(who === 'reconcile' && {
        reconcile: async () => {
          if (!isSecond) return cannotTell();
          arrive('paid');
          await turns(10);
          return notHappened();
        },
      }),
    });
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
      step.effect('charge', charge, null),
    );
    const rig = await appOf(order);
    const { job } = await rig.app.start(order, null);
    const isParked = async ({ status }: Pick<typeof job, 'status'>) =>
      (await status()).waits.some(({ reason }) => reason === 'effect_unknown');
    if (who === 'reconcile') await rig.ended(job);
    else {
      await advanceUntil(rig.clock, () => isParked({ status: () => job.status() }));
      await job.cancel();
    }
    isSecond = true;
    const next = await goOn(rig, job);
    if (who === 'an operator') {
      await advanceUntil(rig.clock, () => isParked({ status: () => next.status() }));
      arrive('paid');
      await rig.idle();
      await rig.app.resolveEffect(next.id, { step: 'charge', by: 'ann', verdict: 'notHappened' });
    }
    expect(await rig.ended(next)).toMatchObject({ status: 'succeeded', result: '"paid"' });
    expect(entries).toBe(1);
  },
);
