import { describe, expect, onTestFinished, test } from 'vitest';
import { Engine } from '../engine/engine.js';
import { prepareCommit } from '../engine/prepare-commit.js';
import { recoverOrphans } from '../engine/recover.js';
import { decide, laneOf, NO_STEPS } from '../kernel/index.js';
import { httpCourier } from '../client/http-courier.js';
import { effect } from '../client/effect.js';
import { task } from '../client/task.js';
import type { Loaded, Store } from '../ports/store.js';
import { advanceUntil, Cluster, Link, prng, testApp } from '../testkit/index.js';
import type { Surroundings } from './execution.js';
import { prepareAttempt } from './prepare-attempt.js';
import { runAttempt } from './run-attempt.js';
import type { Steps } from './steps.js';

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
      ends.push([(await cluster.store.load(job.id)).found?.job.result, skipCheckpoints.length]);
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
    expect((await countsOf(rig.store, job.spec.jobId)).at(-1)).toBe(
      '{"pause":3,"constructor":3,"toString":3,"__proto__":3,"hasOwnProperty":3}',
    );
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

describe('a checkpoint beside what the log does not know of yet', () => {
  const UNSETTLED: Readonly<Record<string, (step: Steps) => Promise<unknown>>> = {
    'a sleep that has lost its race': (step) => step.sleep('limit', '10s'),
    'a signal that nobody sent': (step) => step.waitFor('limit'),
    'a step that runs': (step) => step.run('limit', () => new Promise(() => undefined)),
    'a step that is tried again': (step) =>
      step.run('limit', () => Promise.reject(new Error('no')), { retry: { baseMs: 500, jitterMs: 0 } }),
  };

  test.each(Object.entries(UNSETTLED))('GUA-12 is refused, and names it: %s', async (_, begin) => {
    const loop = task({ name: 'loop' }, async ({ step }) => {
      for (let round = step.resume(0); round < 1; round++) {
        await Promise.race([begin(step), step.run('work', () => 1)]);
        await step.checkpoint(round + 1);
      }
      await step.sleep('limit', '1h');
    });
    const rig = await testApp({ tasks: [loop] });
    onTestFinished(() => rig.stop());
    const job = await rig.ended((await rig.app.start(loop, null)).job);
    expect(job).toMatchObject({ status: 'failed', failure: { code: 'CHECKPOINT_UNSETTLED' } });
    expect(job.failure?.message).toContain("'limit'");
  });

  test('GUA-12 one that nobody awaits counts what comes after it for the next', async () => {
    const loop = task({ name: 'loop' }, async ({ step }) => {
      step.resume(0);
      await step.run('first', () => 1);
      const saved = step.checkpoint(1);
      await step.run('second', () => 2);
      await saved;
      await step.checkpoint(2);
    });
    const rig = await testApp({ tasks: [loop] });
    onTestFinished(() => rig.stop());
    const job = await rig.ended((await rig.app.start(loop, null)).job);
    expect(job.status).toBe('succeeded');
    expect(await countsOf(rig.store, job.spec.jobId)).toEqual(['{"first":1}', '{"first":1,"second":1}']);
  });
});

describe('after an attempt that had come further', () => {
  /** The first attempt pays for three and fails; the second pays for one in each round, and its worker vanishes in the second. */
  async function paid({ ignoreCheckpoints }: { ignoreCheckpoints: boolean }): Promise<unknown[]> {
    const cluster = new Cluster();
    onTestFinished(() => cluster.stop());
    const link = new Link(cluster.store);
    const entered: string[] = [];
    const pay = effect({ name: 'pay', run: async (what: string) => void entered.push(what) });
    const loop = task({ name: 'loop' }, async ({ step, job: { attempt } }) => {
      for (let round = step.resume(1); round <= 2; round++) {
        const isMore = await step
          .run('is more', () => (attempt === 1 ? Promise.reject(new Error('no')) : false))
          .catch(() => true);
        for (const what of isMore ? ['a', 'b', 'c'] : ['a']) await step.effect('pay', pay, `${round}${what}`);
        if (isMore) throw new Error('again');
        if (round === 2 && !link.down) {
          link.down = true;
          await new Promise(() => undefined);
        }
        await step.checkpoint(round + 1);
      }
      return entered;
    });
    const first = await cluster.join([loop], {}, link.store);
    const { job } = await first.app.start(loop, null);
    await advanceUntil(cluster.clock, () => link.down);
    const head = await takeOver(cluster, job.id);
    const prepared = await prepareAttempt(aroundOf(cluster), head, { ignoreCheckpoints });
    await runAttempt(prepared, loop.definition);
    return JSON.parse((await cluster.store.load(job.id)).found?.job.result ?? 'null') as unknown[];
  }

  test.each([false, true])(
    'GUA-4 GUA-12 steps have the same numbers for the attempt that saved a checkpoint and for the next, ignoring it: %s',
    async (ignoreCheckpoints) => {
      expect(await paid({ ignoreCheckpoints })).toEqual(['1a', '1b', '1c', '2a']);
    },
  );
});

async function countsOf(store: Store, jobId: string): Promise<string[]> {
  const { rows } = await store.log(jobId, { fromRev: 1, limit: 100 });
  return rows.flatMap(({ body }) => /"occurrences":(\{.*?\})/.exec(body)?.[1] ?? []);
}

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
