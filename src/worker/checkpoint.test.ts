import { describe, expect, onTestFinished, test } from 'vitest';
import { Engine } from '../engine/engine.js';
import { prepareCommit } from '../engine/prepare-commit.js';
import { recoverOrphans } from '../engine/recover.js';
import { decide, laneOf, NO_STEPS } from '../kernel/index.js';
import { httpCourier } from '../client/http-courier.js';
import { task } from '../client/task.js';
import type { Loaded, Store } from '../ports/store.js';
import { Cluster, Link, prng, testApp } from '../testkit/index.js';
import type { Surroundings } from './execution.js';
import { prepareAttempt, runAttempt } from './run-attempt.js';

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

  test('GUA-12 deleting checkpoints changes no result: the whole replay ends as the short one, and repeats no step', async () => {
    const ends = [];
    for (const ignoreCheckpoints of [false, true]) {
      const cluster = new Cluster();
      onTestFinished(() => cluster.stop());
      const ran: number[] = [];
      const link = new Link(cluster.store);
      const loop = looping(35, (n) => {
        ran.push(n);
        if (n === 32) link.down = true;
      });
      const first = await cluster.join([loop], {}, link.store);
      const { job } = await first.app.start(loop, null);
      await first.idle();
      const head = await takeOver(cluster, job.id);
      const prepared = await prepareAttempt(aroundOf(cluster), head, { ignoreCheckpoints });
      const { skipCheckpoints } = prepared;
      await runAttempt(prepared, loop.definition);
      ends.push([(await cluster.store.load(job.id)).found?.job.result, skipCheckpoints]);
      expect(ran.toSorted((one, two) => one - two)).toEqual([
        ...Array.from({ length: 33 }, (_, n) => n),
        32,
        33,
        34,
      ]);
      link.down = false;
    }
    expect(ends).toEqual([
      ['595', 0],
      ['595', 3],
    ]);
  });

  test('GUA-12 steps may be named like what every object has', async () => {
    const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];
    const odd = task({ name: 'odd' }, async ({ step }) => {
      const state = step.resume({ round: 0, seen: [] as number[] });
      for (; state.round < 3; state.round++) {
        await step.sleep('pause', '1h');
        for (const name of names) state.seen.push(await step.run(name, () => state.round));
        await step.checkpoint({ round: state.round + 1, seen: state.seen });
      }
      return state.seen.length;
    });
    const rig = await testApp({ tasks: [odd] });
    onTestFinished(() => rig.stop());
    const job = await rig.ended((await rig.app.start(odd, null)).job, { atMost: '1d' });
    expect(job).toMatchObject({ status: 'succeeded', result: '12' });
    const { rows } = await rig.store.log(job.spec.jobId, { fromRev: 1, limit: 100 });
    const counted = rows.flatMap(({ body }) => /"occurrences":(\{.*?\})/.exec(body)?.[1] ?? []);
    expect(counted.at(-1)).toBe('{"pause":3,"constructor":3,"toString":3,"__proto__":3,"hasOwnProperty":3}');
  });

  test.each(['by the attempt that saved it', 'by one that began from it'])(
    'GUA-8 a key that was used before a checkpoint is not waited for again, %s',
    async (by) => {
      const looped = task({ name: 'looped' }, async ({ step }) => {
        for (let round = step.resume(0); round < 3; round++) {
          if (by === 'by one that began from it') await step.sleep('pause', '1h');
          await step.waitFor('go');
          await step.checkpoint(round + 1);
        }
      });
      const rig = await testApp({ tasks: [looped] });
      onTestFinished(() => rig.stop());
      const { job } = await rig.app.start(looped, null);
      await rig.idle();
      await job.signal('go', 1);
      expect(await rig.ended(job, { atMost: '1d' })).toMatchObject({
        status: 'failed',
        retryCount: 0,
        failure: { code: 'WAIT_KEY_REUSED' },
      });
    },
  );

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

function aroundOf({ store, clock }: Cluster): Surroundings {
  const courier = httpCourier({ allowPrivate: false });
  const engine = new Engine({ store, clock, random: prng(7), log: console, courier });
  onTestFinished(() => engine.alarms.stop());
  return { engine, holdsLease: () => true, leaseMs: 30_000, bodies: new Set(), hooks: {}, tracing: null };
}

/** Takes a job from a worker that is gone, by hand. */
async function takeOver(cluster: Cluster, jobId: string): Promise<Loaded> {
  const worker = { id: 'heir', incarnation: 'heir.1' };
  cluster.clock.advance(31_000);
  const { engine } = aroundOf(cluster);
  await recoverOrphans(engine, null);
  await cluster.store.beat({ worker, leaseMs: 600_000, lanes: [] });
  let link = '';
  await cluster.store.claim({
    worker,
    lanes: [{ lane: laneOf({ queue: 'default', task: 'loop', version: null }), keyLimit: null }],
    limit: 1,
    afterTenant: '',
    decide: (found, now) => {
      const claim = {
        type: 'claim',
        now,
        actor: 'worker:heir',
        attemptId: 'heir.1/1',
        worker,
        early: false,
      } as const;
      const decision = decide(found.job, claim, NO_STEPS);
      if (!decision.ok) return null;
      const item = prepareCommit(found, { jobId, commandId: claim.attemptId, events: decision.events });
      link = item.link;
      return item;
    },
  });
  const { found } = await cluster.store.load(jobId);
  return { ...(found as Loaded), link };
}
