import { expect, onTestFinished, test } from 'vitest';
import { goOn } from '../../test/go-on.js';
import { cannotTell, effect, notHappened } from '../client/effect.js';
import { task } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp } from '../testkit/index.js';

test('GUA-4 an effect that a successor itself has begun is not forgotten by a handler that goes another way', async () => {
  const run = async (isSuccessor: boolean) => {
    const s = { entered: [] as string[], phase: 0 };
    const charge = effect<string, null>({
      name: 'charge',
      run: (w) => {
        s.entered.push(w);
        return new Promise(() => undefined);
      },
    });
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
      await step.run('a', () => 1);
      if (s.phase === 0) throw new Error('broken');
      if (s.phase === 1) await step.effect('charge', charge, 'charge');
      return 'done';
    });
    const clock = fakeClock(T0);
    const store = memoryStore({ clock });
    const first = await testApp({
      tasks: [order],
      clock,
      store,
      seed: 1,
      work: { lease: '30s', poll: '1s' },
    });
    if (!isSuccessor) s.phase = 1;
    const started = await first.app.start(order, null);
    let jobId = started.job.id;
    if (isSuccessor) {
      await first.ended(started.job);
      s.phase = 1;
      jobId = (await goOn(first, started.job)).id;
    }
    await advanceUntil(clock, async () => s.entered.length === 1);
    s.phase = 2;
    await first.run(first.app.stop());
    const heir = await testApp({ tasks: [order], clock, store, seed: 3, work: { lease: '30s', poll: '1s' } });
    onTestFinished(() => heir.stop());
    const handle = heir.app.job(jobId);
    const at = clock.now();
    await advanceUntil(
      clock,
      async () =>
        (await handle.status()).status === 'waiting' ||
        (await handle.status()).finishedAt !== null ||
        clock.now() > at + 600_000,
    );
    const { status } = await handle.status();
    return { status, why: (await handle.why()).code };
  };
  const [plain, successor] = [await run(false), await run(true)];
  expect(plain.status).toBe('waiting');
  expect(successor).toEqual(plain);
});

test('GUA-4 a late result of the first job does not settle another entry, which the job between has made', async () => {
  let arrive: (result: string) => void = () => undefined;
  const s = { entries: 0, phase: 1, asked: [] as number[] };
  const charge = effect<null, string>({
    name: 'charge',
    timeout: '10s',
    settle: '1m',
    onUnknown: 'fail',
    run: () => {
      s.entries += 1;
      if (s.entries === 1) return new Promise<string>((resolve) => (arrive = resolve));
      throw new Error('connection reset');
    },
    reconcile: () => {
      s.asked.push(s.phase);
      if (s.phase === 1) return cannotTell();
      if (s.phase === 2) return s.entries === 1 ? notHappened() : cannotTell();
      return cannotTell();
    },
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, ({ step }) =>
    step.effect('charge', charge, null),
  );
  const rig = await testApp({ tasks: [order] });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  await rig.ended(job);
  s.phase = 2;
  const second = await goOn(rig, job);
  await rig.ended(second);
  expect(s.entries).toBe(2);
  arrive('paid at first');
  await rig.idle();
  s.phase = 3;
  const third = await goOn(rig, second);
  await rig.ended(third);
  // In one job: the second entry is of unknown outcome, and reconcile is asked about it.
  expect(s.asked).toContain(3);
});

test("GUA-4 the store's clock was set back by some seconds: what has been slept is taken over all the same", async () => {
  const s = { entered: [] as string[], mended: false };
  const charge = effect<string, null>({ name: 'charge', run: (w) => (s.entered.push(w), null) });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
    await step.effect('charge', charge, 'charge');
    await step.sleep('an hour', '1h');
    if (!s.mended) throw new Error('broken');
    await step.effect('ship', charge, 'ship');
  });
  const clock = fakeClock(T0);
  let back = 0;
  const store = memoryStore({ clock: { ...clock, now: () => clock.now() - back } });
  const first = await testApp({ tasks: [order], clock, store, seed: 1 });
  const { job } = await first.app.start(order, null);
  await first.ended(job);
  s.mended = true;
  await first.run(first.app.stop());
  back = 2_000;
  const second = await testApp({ tasks: [order], clock, store, seed: 2 });
  onTestFinished(() => second.stop());
  const [letter] = await second.app.deadLetters.list();
  const next = await second.app.deadLetters.requeue(`${letter?.dlqId}`, { by: 'ann', keepRecorded: true });
  const ended = await second.ended(next);
  expect(ended.status).toBe('succeeded');
});

test('GUA-8 a signal that is accepted while its job is gone on with is not lost', async () => {
  const clock = fakeClock(T0);
  const inner = memoryStore({ clock });
  const s: { next: string | null; on: boolean } = { next: null, on: false };
  const putMessage: Store['putMessage'] = async (asked) => {
    if (s.on) {
      s.on = false;
      await job.cancel();
      s.next = (await goOn(rig, job)).id;
    }
    return inner.putMessage(asked);
  };
  const order = task({ name: 'order' }, async ({ step }) => {
    await step.waitFor('first');
    return step.waitFor('parcel', { timeout: '1d' });
  });
  const rig = await testApp({ tasks: [order], clock, store: { ...inner, putMessage } });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  await rig.idle();
  s.on = true;
  expect(await job.signal('parcel', 'it is there')).toBe('kept');
  const next = rig.app.job(`${s.next}`);
  await next.signal('first', 1);
  const ended = await rig.ended(next);
  expect(ended.result).toBe('"it is there"');
});

test('GUA-8 a signal that a job before has received is a repeated one, also before the job has come to take it over', async () => {
  let isMended = false;
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
    const approved = await step.waitFor('approval');
    if (!isMended) throw new Error('broken');
    return approved;
  });
  const rig = await testApp({ tasks: [order] });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  await job.signal('approval', 'yes');
  await rig.ended(job);
  isMended = true;
  await rig.store.pauseQueue({ queue: 'default', paused: true, by: 'ann' });
  const next = await goOn(rig, job);
  expect(await next.signal('approval', 'no')).toBe('repeated');
  await rig.store.pauseQueue({ queue: 'default', paused: false, by: 'ann' });
  expect((await rig.ended(next)).result).toBe('"yes"');
});
