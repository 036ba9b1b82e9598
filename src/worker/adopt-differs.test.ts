import { expect, onTestFinished, test } from 'vitest';
import { goOn } from '../../test/go-on.js';
import { cannotTell, effect, noEffect, notHappened } from '../client/effect.js';
import { task, type AnyTask } from '../client/task.js';
import { advanceUntil, testApp } from '../testkit/index.js';
import type { Steps } from './steps.js';

async function failed(order: AnyTask, ...others: AnyTask[]) {
  const rig = await testApp({ tasks: [order, ...others] });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  await rig.ended(job);
  return { rig, job };
}

const done: string[] = [];
const charge = effect<null, null>({ name: 'charge', run: () => (done.push('effect'), null) });
const paying = (name: string, isMended: () => boolean) =>
  task({ name, retry: { maxRetries: 0 } }, async ({ step }) => {
    await step.effect('charge', charge, null);
    if (!isMended()) throw new Error('broken');
  });

let isMended = false;
const [pay, other] = [paying('pay', () => isMended), paying('other', () => isMended)];
const CHANGES: Readonly<Record<string, (step: Steps) => Promise<unknown>>> = {
  'a step that is made an effect': (step) =>
    isMended ? step.effect('charge', charge, null) : step.run('charge', () => void done.push('run')),
  'an effect that is made a step': (step) =>
    isMended ? step.run('charge', () => void done.push('run')) : step.effect('charge', charge, null),
  'another task in the place of one that has charged': (step) =>
    step.call('pay', isMended ? other : pay, null),
  'a sleep that is made a wait': async (step) => {
    await step.run('before', () => void done.push('before'));
    await (isMended ? step.waitFor('ready') : step.sleep('ready', '1h'));
  },
};

test.each(Object.keys(CHANGES))(
  'GUA-6 what is recorded is neither repeated nor mistaken: %s parks the job',
  async (name) => {
    isMended = false;
    done.length = 0;
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
      await CHANGES[name]?.(step);
      if (!isMended) throw new Error('broken');
    });
    const { rig, job } = await failed(order, pay, other);
    isMended = true;
    const next = await goOn(rig, job);
    await advanceUntil(rig.clock, async () => (await next.status()).status === 'waiting');
    expect((await next.why()).code).toBe('nondeterminism');
    expect(done).toHaveLength(1);
  },
);

test('a child that did nothing outside is begun anew with another input', async () => {
  const entered: string[] = [];
  isMended = false;
  const note = effect<string, null>({ name: 'note', run: (what) => (entered.push(what), null) });
  const look = task({ name: 'look', retry: { maxRetries: 0 } }, async ({ input, step }) => {
    const account = await step.run('look up', () => `account of ${String(input)}`);
    if (!isMended) throw new Error('no such account');
    await step.effect('charge', note, account);
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
    step.call('payment', look, isMended ? 'Ann' : 'Bob'),
  );
  const { rig, job } = await failed(order, look);
  isMended = true;
  expect((await rig.ended(await goOn(rig, job))).status).toBe('succeeded');
  expect(entered).toEqual(['account of Ann']);
});

test('GUA-4 what the job between found not to have happened may be entered with something else', async () => {
  let phase = 1;
  const entered: number[] = [];
  const pays = effect<number, null>({
    name: 'pays',
    settle: '1m',
    onUnknown: 'fail',
    run: (cents) => {
      if (phase === 1) throw new Error('connection reset');
      if (phase === 2) throw noEffect(new Error('wrong amount'));
      entered.push(cents);
      return null;
    },
    reconcile: () => (phase === 1 ? cannotTell() : notHappened()),
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
    step.effect('charge', pays, phase === 3 ? 13 : 12),
  );
  const { rig, job } = await failed(order);
  phase = 2;
  const second = await goOn(rig, job);
  await rig.ended(second);
  phase = 3;
  expect((await rig.ended(await goOn(rig, second))).status).toBe('succeeded');
  expect(entered).toEqual([13]);
});
