import { describe, expect, test } from 'vitest';
import { effect, happened } from '../client/effect.js';
import { task, type AnyTask } from '../client/task.js';
import { must, type Job } from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import { advanceUntil, Link, type Cluster } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';
import { turns } from '../../test/turns.js';
import type { HandlerContext } from './task-definition.js';

const hang = (): Promise<never> => new Promise(() => undefined);

/** A cluster whose first worker can vanish. */
function mortal() {
  const cluster = newCluster();
  const link = new Link(withTransactions(cluster));
  return {
    cluster,
    first: link.store,
    isDead: () => link.down,
    die: (): Promise<never> => {
      link.down = true;
      return hang();
    },
  };
}

/** As if the store in memory had transactions. */
function withTransactions({ store }: Cluster): Store {
  return {
    ...store,
    begin: async () => ({
      tx: null,
      commit: async (item) => {
        const { now, replies } = await store.commit([item]);
        return { now, reply: must(replies[0], 'each commit is answered') };
      },
      rollback: async () => undefined,
    }),
  };
}

/** Runs a job by a worker that vanishes in the middle, and then by another: to its end, or until it is parked. */
async function crashAndGoOn(
  world: ReturnType<typeof mortal>,
  [before, ...others]: readonly [AnyTask, ...AnyTask[]],
  after: AnyTask = before,
): Promise<Job> {
  const { cluster, first } = world;
  const one = await cluster.join([before], {}, first);
  const { job } = await one.app.start(before, null);
  await advanceUntil(cluster.clock, () => world.isDead());
  const two = await cluster.join([after, ...others], {}, withTransactions(cluster));
  const handle = two.app.job(job.id);
  const isOver = async () => {
    const { finishedAt, waits } = await handle.status();
    return finishedAt !== null || waits.some(({ reason }) => reason === 'nondeterminism');
  };
  await advanceUntil(cluster.clock, isOver, { atMost: '3d' });
  return handle.status();
}

describe('what a race has led to before a crash, it leads to again', () => {
  /** How the handler comes to its race. */
  const WAYS: Readonly<Record<string, (context: HandlerContext<unknown>) => Promise<unknown>>> = {
    'in its first attempt': async () => undefined,
    'past a failure that it caught': async ({ step }) =>
      step.run('flaky', () => Promise.reject(new Error('no'))).catch(() => undefined),
    'in a later attempt': async ({ step, job: { attempt } }) => {
      await step.run('once', () => 1);
      if (attempt === 1) throw new Error('not yet');
    },
  };

  test.each(
    Object.keys(WAYS).flatMap((way) =>
      (['being made', 'recorded'] as const).map((payment) => ({ way, payment })),
    ),
  )('GUA-4 GUA-6 no second effect is entered: $way, the first $payment', async ({ way, payment }) => {
    const world = mortal();
    const winners: string[] = [];
    const entered: string[] = [];
    const pay = effect({
      name: 'pay',
      settle: 0,
      run: async (who: string) => {
        entered.push(who);
        if (payment === 'being made' && entered.length === 1) await world.die();
        return 'paid';
      },
      reconcile: () => happened('found'),
    });
    const race = task({ name: 'race' }, async (context) => {
      await WAYS[way]?.(context);
      const { step } = context;
      const slow = step.run('slow', () => (winners.length === 0 ? hang() : 'slow'));
      const fast = step.run('fast', () => 'fast');
      const winner = await Promise.race([slow, fast]);
      winners.push(winner);
      const paid = await step.effect(`pay-${winner}`, pay, winner);
      if (winners.length === 1) await world.die();
      return paid;
    });
    const job = await crashAndGoOn(world, [race]);
    expect({ winners, entered }).toEqual({ winners: ['fast', 'fast'], entered: ['fast'] });
    expect(job.result).toBe(payment === 'recorded' ? '"paid"' : '"found"');
  });

  test('GUA-6 no second child is started', async () => {
    const world = mortal();
    const winners: string[] = [];
    const ran: unknown[] = [];
    const kid = task({ name: 'kid' }, ({ input }) => ran.push(input));
    const race = task({ name: 'race' }, async ({ step }) => {
      const slow = step.run('slow', async () => (winners.length === 0 ? hang() : 'slow'));
      const fast = step.run('fast', () => 'fast');
      const winner = await Promise.race([slow, fast]);
      winners.push(winner);
      const crash = () => (winners.length === 1 ? turns(3).then(world.die) : null);
      await Promise.all([step.call(`kid-${winner}`, kid, winner), step.run('crash', crash)]);
      return winner;
    });
    const job = await crashAndGoOn(world, [race, kid]);
    expect({ winners, ran, result: job.result }).toEqual({
      winners: ['fast', 'fast'],
      ran: ['fast'],
      result: '"fast"',
    });
  });

  /** Each loses in the first run, and has its result as soon as it is asked for in the second. */
  const LATE = effect({ name: 'late', run: () => 'late' });
  const LOSERS: Readonly<
    Record<string, (context: HandlerContext<unknown>, isFirst: boolean) => Promise<unknown>>
  > = {
    'a step': ({ step }, isFirst) => step.run('late', () => (isFirst ? hang() : 'late')),
    'a step that fails': ({ step }, isFirst) =>
      step.run('late', () => (isFirst ? hang() : Promise.reject(new Error('late')))),
    'a transaction': ({ step }, isFirst) => step.transaction('late', () => (isFirst ? hang() : 'late')),
    'an effect': async ({ step }, isFirst) => {
      await step.run('gap', () => (isFirst ? hang() : 1));
      return step.effect('late', LATE, null);
    },
  };
  test.each(Object.entries(LOSERS))('GUA-6 %s does not overtake a recorded value', async (_, lose) => {
    const world = mortal();
    const winners: unknown[] = [];
    const race = task({ name: 'race' }, async (context) => {
      const { step } = context;
      const isFirst = winners.length === 0;
      const loser = lose(context, isFirst).catch(() => 'late');
      const winner = await Promise.race([loser, step.now()]);
      winners.push(winner);
      if (isFirst) await world.die();
    });
    await crashAndGoOn(world, [race]);
    expect(winners).toEqual([expect.any(Number), winners[0]]);
  });

  test('GUA-4 GUA-6 the result of an effect that was stored, and not recorded, does not overtake what was', async () => {
    const world = mortal();
    const winners: string[] = [];
    let release: (result: string) => void = () => undefined;
    let isEntered = false;
    const charge = effect({
      name: 'charge',
      run: () =>
        new Promise<string>((resolve) => {
          isEntered = true;
          release = resolve;
        }),
    });
    const race = task({ name: 'race' }, async ({ step }) => {
      const charged = step.effect('charge', charge, null);
      await step.run('gap', () => turns(3));
      // Of its own, and longer than the store takes to answer.
      await turns(3);
      const other = step.run('other', () => 'other');
      const winner = await Promise.race([charged, other]);
      winners.push(winner);
      if (winners.length === 1) {
        isRecording = false;
        release('charged');
        await hang();
      }
      return winner;
    });
    let isRecording = true;
    const cuts: Store = {
      ...world.first,
      commit: (items) => (isRecording ? world.first.commit(items) : world.die()),
    };
    const job = await crashAndGoOn({ ...world, first: cuts }, [race]);
    expect(isEntered).toBe(true);
    expect({ winners, result: job.result }).toEqual({ winners: ['other', 'other'], result: '"other"' });
  });
});

describe('a handler that has left its path', () => {
  const kid = task({ name: 'kid' }, () => hang());
  const pay = (die: () => Promise<never>) => effect({ name: 'pay', run: die });

  test.each<[string, (context: HandlerContext<unknown>, die: () => Promise<never>) => Promise<unknown>]>([
    ['pay#1', ({ step }, die) => step.effect('pay', pay(die), 1)],
    [
      'kid#1',
      ({ step }, die) => Promise.all([step.call('kid', kid, 1), step.run('busy', () => turns(3).then(die))]),
    ],
  ])('GUA-6 is parked before it does something else than %s, which had begun', async (_, begin) => {
    const world = mortal();
    let ran = 0;
    const before = task({ name: 'job' }, (context) => begin(context, world.die));
    const after = task({ name: 'job' }, (context) => context.step.run('other', () => ++ran));
    const job = await crashAndGoOn(world, [before], after);
    expect(job.waits.map(({ reason }) => reason)).toContain('nondeterminism');
    expect(ran).toBe(0);
  });
});

test('GUA-4 a handler that is slow beside an effect which had begun has not left its path', async () => {
  const world = mortal();
  let runs = 0;
  const pay = effect({ name: 'pay', settle: 0, run: () => hang(), reconcile: () => happened('found') });
  const slow = task({ name: 'slow' }, async ({ step }) => {
    const isFirst = ++runs === 1;
    const beside = async () => {
      await step.run('before', () => 1);
      await new Promise<void>((resolve) => world.cluster.clock.after(8_000, resolve));
      await step.run('after', () => 1);
      if (isFirst) await world.die();
    };
    const [paid] = await Promise.all([step.effect('pay', pay, null), beside()]);
    return paid;
  });
  expect((await crashAndGoOn(world, [slow])).result).toBe('"found"');
});

test('GUA-9 a handler that takes its time between two recorded steps is not suspended in between', async () => {
  const world = mortal();
  let runs = 0;
  const limited = task({ name: 'limited' }, async ({ step }) => {
    const isFirst = ++runs === 1;
    const limit = step.sleep('limit', '1d').then(() => 'too late');
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const work = async () => {
      const busy = step.run('busy', () => held);
      await turns(20);
      await step.run('next', () => 1);
      release();
      await busy;
      await step.run('last', () => (isFirst ? world.die() : 1));
      return 'in time';
    };
    return Promise.race([limit, work()]);
  });
  const job = await crashAndGoOn(world, [limited]);
  expect(job.result).toBe('"in time"');
});
