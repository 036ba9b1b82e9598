import { expect, test } from 'vitest';
import { cannotTell, effect, happened } from '../client/effect.js';
import { task } from '../client/task.js';
import { verifyStore } from '../engine/evidence/verify-store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp } from '../testkit/index.js';
import { MortalStore, type CrashPoint } from '../testkit/mortal-store.js';

/** A job with an effect that happened, one of unknown outcome, a step, a child that succeeded and one that failed. Its successor works. */
function shop() {
  const entered: string[] = [];
  let isSecond = false;
  const charge = effect<string, string>({
    name: 'charge',
    onUnknown: 'fail',
    settle: '1m',
    run: (what) => {
      entered.push(what);
      if (what === 'lost') throw new Error('connection reset');
      return `paid ${what}`;
    },
    reconcile: () => (isSecond ? happened('found') : cannotTell()),
  });
  const ship = task({ name: 'ship' }, ({ step }) => step.effect('postage', charge, 'postage'));
  const bill = task({ name: 'bill', retry: { maxRetries: 0 } }, async ({ step }) => {
    const stamp = await step.effect('stamp', charge, 'stamp');
    if (!isSecond) throw new Error('no ink');
    return stamp;
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
    const quote = await step.run('quote', () => void entered.push('quote'));
    const paid = await step.effect('charge', charge, 'goods');
    const sent = await step.call('shipment', ship, null);
    const billed = await step.call('invoice', bill, null).catch(() => 'not billed');
    return { quote, paid, sent, billed, lost: await step.effect('lost', charge, 'lost') };
  });
  return { tasks: [order, ship, bill] as const, entered, mend: () => void (isSecond = true) };
}

/** The writes of a successor that dies at one of them, and is taken over; null: it does not. */
async function goOnKilled(crash: CrashPoint | null) {
  const { tasks, entered, mend } = shop();
  const clock = fakeClock(T0);
  const store = memoryStore({ clock });
  const first = await testApp({ tasks, clock, store, seed: 1 });
  const { job } = await first.app.start(tasks[0], null);
  expect((await first.ended(job)).failure?.code).toBe('EFFECT_UNKNOWN');
  const letter = (await first.app.deadLetters.list()).find(({ jobId }) => jobId === job.id);
  await first.run(first.app.stop());
  mend();
  const next = await first.app.deadLetters.requeue(`${letter?.dlqId}`, { by: 'ann', keepRecorded: true });
  const mortal = new MortalStore(store, crash);
  const victim = await testApp({ tasks, clock, store: mortal.store, seed: 2 });
  const isOver = async () => (await next.status()).finishedAt !== null;
  await advanceUntil(clock, async () => mortal.isDead || (await isOver()));
  const heir = crash === null ? null : await testApp({ tasks, clock, store, seed: 3 });
  const { status, result } = await first.ended(next);
  const { broken } = await verifyStore(store);
  await heir?.stop();
  if (!mortal.isDead) await victim.stop();
  return { writes: mortal.writes, ended: { status, result, broken, entered } };
}

test('GUA-4 wherever its worker dies, a job that goes on with another enters nothing again that was entered', async () => {
  const undisturbed = await goOnKilled(null);
  expect(undisturbed.ended).toEqual({
    status: 'succeeded',
    result: JSON.stringify({
      quote: null,
      paid: 'paid goods',
      sent: 'paid postage',
      billed: 'paid stamp',
      lost: 'found',
    }),
    broken: [],
    entered: ['quote', 'goods', 'postage', 'stamp', 'lost'],
  });
  expect(undisturbed.writes.length).toBeGreaterThan(15);
  for (const [index, write] of undisturbed.writes.entries()) {
    for (const when of ['before', 'after'] as const) {
      const { ended } = await goOnKilled({ when, nth: index + 1 });
      expect(ended, `killed ${when} write ${index + 1} (${write})`).toEqual(undisturbed.ended);
    }
  }
});
