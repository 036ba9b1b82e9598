import { describe, expect, onTestFinished, test } from 'vitest';
import { Pawl } from '../client/app.js';
import { effect, notHappened } from '../client/effect.js';
import { task } from '../client/task.js';
import { deliverInbox } from '../engine/signal-job.js';
import { PawlError } from '../errors.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, T0, testApp } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';

const lostReply = () => new PawlError('STORE_UNAVAILABLE', { detail: 'the reply was lost' });

describe('unlucky moments', () => {
  test('GUA-9 a sleep beside a running step ends although the store’s clock fell behind after its alarm was set', async () => {
    const clock = fakeClock(T0);
    let behindMs = 0;
    const store = memoryStore({ clock: { now: () => clock.now() - behindMs } });
    const job = task({ name: 'job' }, async ({ step }) => {
      const work = step.run('work', () => new Promise(() => undefined));
      return Promise.race([work, step.sleep('limit', '5s').then(() => 'too late')]);
    });
    const rig = await testApp({ tasks: [job], clock, store });
    onTestFinished(() => rig.stop());
    const { job: handle } = await rig.app.start(job, null);
    await rig.idle();
    behindMs = 1;
    expect((await rig.ended(handle, { atMost: '6s' })).result).toBe('"too late"');
  });

  test('GUA-6 a sleep that ran out while nobody held the job does not overtake what had won against it', async () => {
    const cluster = newCluster();
    const winners: string[] = [];
    const job = task({ name: 'job' }, async ({ step }) => {
      // Handed out one in each turn: the replay takes its time.
      const many = Array.from({ length: 60 }, (_, index) => step.run(`before-${index}`, () => index));
      const work = step.run('work', () => 'work');
      const winner = await Promise.race([work, step.sleep('limit', '5s').then(() => 'limit')]);
      winners.push(winner);
      await Promise.all(many);
      await step.waitFor('go');
      return winner;
    });
    const first = await cluster.join([job]);
    const { job: handle } = await first.app.start(job, null);
    await first.idle();
    await first.stop();
    const client = await cluster.join([job], false);
    await client.app.job(handle.id).signal('go', null);
    cluster.clock.advance(10_000);
    const second = await cluster.join([job]);
    expect(await second.ended(client.app.job(handle.id))).toMatchObject({ result: '"work"' });
    expect(winners).toEqual(['work', 'work']);
  });

  test('GUA-8 a signal that a sweep has delivered before its sender could is said to be delivered', async () => {
    const cluster = newCluster();
    const job = task({ name: 'job' }, ({ step }) => step.waitFor('go'));
    const worker = await cluster.join([job]);
    const { job: handle } = await worker.app.start(job, null);
    await worker.idle();
    const store: Store = {
      ...cluster.store,
      putMessage: async (message) => {
        const put = await cluster.store.putMessage(message);
        await deliverInbox(Pawl.inside(worker.app).engine, handle.id);
        return put;
      },
    };
    const sender = await cluster.join([job], false, store);
    expect(await sender.app.job(handle.id).signal('go', 1)).toBe('delivered');
    expect(await worker.ended(handle)).toMatchObject({ result: '1' });
  });

  test('GUA-8 a signal that was written down before its wait ran out is what it is answered with, though its bearer vanished', async () => {
    const cluster = newCluster();
    const job = task(
      { name: 'job' },
      async ({ step }) => (await step.waitFor('go', { timeout: '3s' })) ?? 'too late',
    );
    const worker = await cluster.join([job]);
    const { job: handle } = await worker.app.start(job, null);
    await worker.idle();
    await cluster.store.putMessage({ jobId: handle.id, key: 'go', payload: '"went"' });
    expect(await worker.ended(handle)).toMatchObject({ result: '"went"' });
    expect((await cluster.store.inbox(handle.id)).messages).toEqual([]);
  });

  test('a start that is repeated past its child’s deadline does not tell the parent that the child failed', async () => {
    const cluster = newCluster();
    let starts = 0;
    const seen: string[] = [];
    const store: Store = {
      ...cluster.store,
      // The child's end stays on its way until its start was carried twice: the first bearer could not say that it did.
      takeOutbox: async (page) => {
        const isHeld = starts < 2;
        const reply = await cluster.store.takeOutbox(page);
        const kindOf = (body: string) => (JSON.parse(body) as { kind: string }).kind;
        seen.push(...reply.entries.map(({ body }) => kindOf(body)));
        starts = seen.filter((kind) => kind === 'child.start').length;
        return {
          ...reply,
          entries: reply.entries.filter(({ body }) => kindOf(body) !== 'child.ended' || !isHeld),
        };
      },
      settleOutbox: async (outcomes) => {
        if (starts === 1) throw lostReply();
        return cluster.store.settleOutbox(outcomes);
      },
    };
    const child = task({ name: 'child' }, () => 'well done');
    const parent = task({ name: 'parent' }, ({ step }) =>
      step.call('once', child, null, { deadline: '20s' }),
    );
    const rig = await cluster.join([parent, child], {}, store);
    const over = await rig.ended((await rig.app.start(parent, null)).job, { atMost: '10m' });
    expect(over).toMatchObject({ status: 'succeeded', result: '"well done"' });
    expect(starts).toBe(2);
    expect(cluster.clock.now()).toBeGreaterThan(T0 + 20_000);
  });

  test('a job that is cancelled just as it is dead-lettered is cancelled, and its attempt ends in good order', async () => {
    const clock = fakeClock(T0);
    const memory = { ...memoryStore({ clock }), close: async () => undefined };
    const failing = task({ name: 'failing', retry: { maxRetries: 0 } }, () => {
      throw new Error('always');
    });
    const client = await testApp({ tasks: [failing], clock, store: memory, work: false });
    const said: string[] = [];
    const log = { debug: quiet, info: quiet, warn: quiet, error: (what: string) => said.push(what) };
    let isCancelled = false;
    const store: Store = {
      ...memory,
      // The dead letter is made from the log; somebody cancels before it is read.
      log: async (jobId, page) => {
        if (!isCancelled) await client.app.job(jobId).cancel();
        isCancelled = true;
        return memory.log(jobId, page);
      },
    };
    const worker = await testApp({ tasks: [failing], clock, store, log, seed: 2 });
    onTestFinished(async () => {
      await worker.stop();
      await client.stop();
    });
    const { job } = await client.app.start(failing, null);
    expect(await worker.ended(job)).toMatchObject({ status: 'cancelled' });
    await worker.idle();
    expect(isCancelled).toBe(true);
    expect(said).toEqual([]);
  });

  test('GUA-8 a message is not lost with a command that is refused beside one that is saved', async () => {
    const cluster = newCluster();
    const later = <T>(value: T) =>
      new Promise<T>((resolve) => cluster.clock.after(10_000, () => resolve(value)));
    const job = task({ name: 'job', signals: ['approval'], retry: { maxRetries: 0 } }, async ({ step }) => {
      const steps = [step.run('first', () => later(1)), step.run('second', () => later(2))];
      // Not one of its signals: what comes of this wait is refused.
      await Promise.all([...steps, step.waitFor('other', { timeout: '10s' })]);
    });
    const commits: string[] = [];
    const store: Store = {
      ...cluster.store,
      commit: async (items) => {
        commits.push(...items.map(({ body }) => body));
        const reply = await cluster.store.commit(items);
        // While the first step is being recorded, the second ends, and so does the wait: they share the next commit.
        for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
        return reply;
      },
    };
    // No heartbeat comes before its time, and looks for the message.
    const rig = await cluster.join([job], { lease: '1h' }, store);
    const { job: handle } = await rig.app.start(job, null, { delay: '1s' });
    await cluster.store.putMessage({ jobId: handle.id, key: 'other', payload: '"word"' });
    expect((await rig.ended(handle)).failure?.code).toBe('INVALID_SIGNAL_KEY');
    expect(commits.filter((body) => body.includes('"second"'))).toHaveLength(1);
    expect((await cluster.store.inbox(handle.id)).messages).toMatchObject([{ key: 'other' }]);
  });

  test('GUA-4 an intent that was saved as its lease ran out is reported: nobody waits for a body that will never run', async () => {
    const outcomes = new Set<string>();
    // Whether it runs out before the reply is looked at, before the body or within it depends on how soon it comes.
    for (let soon = 0; soon < 40; soon++) {
      const cluster = newCluster();
      const charge = effect({ name: 'charge', settle: 0, run: () => 'ch_1', reconcile: () => notHappened() });
      const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 1));
      const reports: unknown[] = [];
      let isSaved = false;
      const store: Store = {
        ...cluster.store,
        commit: async (items) => {
          const reply = await cluster.store.commit(items);
          if (!isSaved && items.some(({ body }) => body.includes('effect.intended'))) {
            isSaved = true;
            void afterMicrotasks(soon, () => cluster.clock.advance(30_000));
          }
          return reply;
        },
        putEffect: async (result) => {
          reports.push(`${result.entry}: ${result.result}`);
          return cluster.store.putEffect(result);
        },
      };
      const rig = await cluster.join([order], {}, store);
      const over = await rig.ended((await rig.app.start(order, null)).job, { atMost: '2m' });
      expect(over, `${soon}`).toMatchObject({ status: 'succeeded', result: '"ch_1"' });
      outcomes.add(reports.join(', '));
    }
    expect([...outcomes].toSorted()).toEqual(['1: "ch_1"', '1: null, 2: "ch_1"', '2: "ch_1"']);
  });

  test('GUA-10 a worker that lost its lease by its own count is someone new, although the store would have renewed it', async () => {
    const cluster = newCluster();
    let isDeaf = false;
    const store: Store = {
      ...cluster.store,
      beat: async (beat) => {
        const reply = await cluster.store.beat(beat);
        if (isDeaf) throw lostReply();
        return reply;
      },
    };
    const job = task({ name: 'job' }, () => 'done');
    const rig = await cluster.join([job], {}, store);
    const known = async () => (await cluster.store.workers({ incarnations: null })).workers[0]?.worker;
    const before = await known();
    isDeaf = true;
    cluster.clock.advance(10_000);
    await rig.idle();
    cluster.clock.advance(20_000);
    await rig.idle();
    isDeaf = false;
    const { job: handle } = await rig.app.start(job, null);
    await rig.ended(handle);
    const { rows } = await cluster.store.log(handle.id, { fromRev: 2, limit: 1 });
    expect(rows[0]?.body).not.toContain(before?.incarnation);
    expect((await known())?.id).toBe(before?.id);
  });

  test('GUA-10 a heartbeat that was answered before a claim of the same moment takes nothing from the worker', async () => {
    const cluster = newCluster();
    let letGo: () => void = quiet;
    const isRunning = new Promise<void>((resolve) => (letGo = resolve));
    let beats = 0;
    const store: Store = {
      ...cluster.store,
      beat: async (beat) => {
        const reply = await cluster.store.beat(beat);
        // The first registers the worker.
        if ((beats += 1) > 1) await isRunning;
        return reply;
      },
    };
    const signals: AbortSignal[] = [];
    const job = task({ name: 'job' }, async ({ signal }) => {
      signals.push(signal);
      letGo();
      await new Promise(quiet);
    });
    const client = await cluster.join([job], false);
    const { job: handle } = await client.app.start(job, null);
    const worker = await cluster.join([job], {}, store);
    await worker.idle();
    cluster.clock.advance(20_000);
    await worker.idle();
    expect(await handle.status()).toMatchObject({ status: 'running' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

async function afterMicrotasks(count: number, action: () => void): Promise<void> {
  for (let passed = 0; passed < count; passed++) await Promise.resolve();
  action();
}

function quiet(): void {}
