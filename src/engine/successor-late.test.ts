import { expect, onTestFinished, test } from 'vitest';
import { goOn } from '../../test/go-on.js';
import { effect } from '../client/effect.js';
import type { JobHandle } from '../client/job-handle.js';
import { task } from '../client/task.js';
import type { OutboxEntry, Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp, type TestApp, type TestAppOptions } from '../testkit/index.js';

/** An app whose mail is late: only what `passes` is handed out. */
async function appWithMail(
  options: TestAppOptions,
  passes: (entry: OutboxEntry) => boolean,
): Promise<TestApp> {
  const clock = fakeClock(T0);
  const inner = memoryStore({ clock });
  const takeOutbox: Store['takeOutbox'] = async (asked) => {
    const taken = await inner.takeOutbox(asked);
    return { ...taken, entries: taken.entries.filter(passes) };
  };
  const rig = await testApp({ ...options, clock, store: { ...inner, takeOutbox } });
  onTestFinished(() => rig.stop());
  return rig;
}

test('GUA-4 a child that has not heard yet that its parent has ended is waited for, and then gone on with', async () => {
  const entered: string[] = [];
  const charge = effect<null, null>({ name: 'charge', run: () => (entered.push('charge'), null) });
  const pay = task({ name: 'pay', retry: { maxRetries: 0 } }, async ({ step }) => {
    await step.sleep('a minute', '1m');
    await step.effect('charge', charge, null);
    return 'paid';
  });
  const order = task({ name: 'order' }, ({ step }) => step.call('payment', pay, null));
  const lost = new Set<string>();
  // Whoever first takes word that a child is to be cancelled dies with it.
  const rig = await appWithMail({ tasks: [order, pay] }, ({ body, entryId }) => {
    const isLost = body.includes('child.cancel') && !lost.has(entryId);
    if (isLost) lost.add(entryId);
    return !isLost;
  });
  const { job } = await rig.app.start(order, null);
  for (let times = 0; times < 3; times++) await rig.idle();
  await job.cancel();
  expect(await rig.ended(await goOn(rig, job))).toMatchObject({ status: 'succeeded', result: '"paid"' });
  expect(entered).toEqual(['charge']);
});

test('GUA-8 a signal follows through a row of jobs, also if the one between ended before it came there', async () => {
  const order = task({ name: 'order' }, async ({ step }) => {
    await step.waitFor('first');
    return step.waitFor('parcel');
  });
  let isHeld = false;
  const rig = await appWithMail({ tasks: [order] }, () => !isHeld);
  const { job } = await rig.app.start(order, null);
  await rig.idle();
  await job.signal('parcel', 'it is there');
  await job.cancel();
  isHeld = true;
  const second = await goOn(rig, job);
  await second.cancel();
  const third = await goOn(rig, second);
  isHeld = false;
  await third.signal('first', 1);
  expect(await rig.ended(third)).toMatchObject({ status: 'succeeded', result: '"it is there"' });
});

test('GUA-14 a job that is gone on with while its evidence is written is not deleted', async () => {
  const order = task({ name: 'order' }, async ({ step }) => {
    await step.run('quote', () => 12);
    await step.waitFor('parcel', { timeout: '2h' });
  });
  const going: { next: JobHandle | null; oldId: string } = { next: null, oldId: '' };
  const retention = {
    keep: '1h',
    evidence: async ({ jobId }: { jobId: string }) => {
      if (jobId === going.oldId) going.next ??= await goOn(rig, { id: jobId });
    },
  } as const;
  const rig: TestApp = await appWithMail({ tasks: [order], retention }, () => true);
  const { job } = await rig.app.start(order, null);
  going.oldId = job.id;
  await rig.idle();
  await job.cancel();
  await advanceUntil(rig.clock, async () => going.next !== null);
  expect((await rig.ended(going.next as JobHandle)).status).toBe('succeeded');
});
