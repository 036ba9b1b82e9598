import { describe, expect, onTestFinished, test } from 'vitest';
import { Engine } from '../engine/engine.js';
import { httpCourier } from '../client/http-courier.js';
import { task } from '../client/task.js';
import type { Loaded, Store } from '../ports/store.js';
import { Cluster, Link, prng, testApp } from '../testkit/index.js';
import { prepareAttempt } from './run-attempt.js';

/** A loop of `rounds` steps that saves where it stands after each tenth. */
function looping(rounds: number, onStep: (n: number) => void) {
  return task({ name: 'loop' }, async ({ step }) => {
    const state = step.resume({ next: 0, sum: 0 });
    for (; state.next < rounds; state.next++) {
      state.sum += await step.run('add', () => {
        onStep(state.next);
        return state.next;
      });
      if (state.next % 10 === 9) await step.checkpoint({ next: state.next + 1, sum: state.sum });
    }
    return state.sum;
  });
}

/** Counts the rows of the log that are read. */
function counting(store: Store): { store: Store; rows: number } {
  const counted = { rows: 0 };
  const log: Store['log'] = async (jobId, page) => {
    const reply = await store.log(jobId, page);
    counted.rows += reply.rows.length;
    return reply;
  };
  return Object.assign(counted, { store: { ...store, log } });
}

describe('checkpoints', () => {
  test('GUA-12 a long job restarts from its last checkpoint: it reads only what came after, and repeats nothing', async () => {
    const cluster = new Cluster();
    onTestFinished(() => cluster.stop());
    const ran: number[] = [];
    const link = new Link(cluster.store);
    const loop = looping(100, (n) => {
      ran.push(n);
      if (n === 57) link.down = true;
    });
    const first = await cluster.join([loop], {}, link.store);
    const { job } = await first.app.start(loop, null);
    await first.idle();
    const reader = counting(cluster.store);
    const second = await cluster.join([loop], {}, reader.store);
    expect((await second.ended(second.app.job(job.id))).result).toBe('4950');
    expect(ran.filter((n) => n !== 57)).toEqual(
      Array.from({ length: 100 }, (_, n) => n).filter((n) => n !== 57),
    );
    expect(reader.rows).toBeLessThan(20);
  });

  test('GUA-12 deleting checkpoints changes no result', async () => {
    const loop = looping(35, () => undefined);
    const rig = await testApp({ tasks: [loop], work: false });
    onTestFinished(() => rig.stop());
    const { job } = await rig.app.start(loop, null);
    await rig.app.work({ stopOnSignal: false, lease: '1d' });
    await rig.ended(job);
    const { found } = await rig.store.load(job.id);
    const engine = new Engine({
      store: rig.store,
      clock: rig.clock,
      random: prng(1),
      log: console,
      courier: httpCourier({ allowPrivate: false }),
    });
    const around = { engine, holdsLease: () => true, leaseMs: 1, bodies: new Set<string>(), hooks: {} };
    const whole = await prepareAttempt(around, found as Loaded, { ignoreCheckpoints: true });
    const tail = await prepareAttempt(around, found as Loaded);
    expect(whole.skipCheckpoints).toBe(3);
    expect([whole.attempt.steps.size, tail.attempt.steps.size]).toEqual([35, 5]);
    expect(tail.attempt.steps.checkpoint?.occurrences).toEqual({ add: 30 });
    for (const occurrence of [31, 35]) {
      const ref = { step: 'add', occurrence };
      expect(tail.attempt.steps.get(ref)).toEqual(whole.attempt.steps.get(ref));
    }
    engine.alarms.stop();
  });

  test('a checkpoint beside an open step is refused', async () => {
    const loop = task({ name: 'loop' }, async ({ step }) => {
      step.resume(0);
      const waiting = step.waitFor('never');
      const child = step.call('child', loop2, null);
      await step.run('x', () => 1);
      await step.checkpoint(1);
      await Promise.all([waiting, child]);
    });
    const loop2 = task({ name: 'child' }, ({ step }) => step.waitFor('never'));
    const rig = await testApp({ tasks: [loop, loop2] });
    onTestFinished(() => rig.stop());
    const job = await rig.ended((await rig.app.start(loop, null)).job);
    expect(job.failure?.code).toBe('CHECKPOINT_UNSETTLED');
  });
});
