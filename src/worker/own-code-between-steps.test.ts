import { expect, test } from 'vitest';
import { newCluster } from '../../test/new-cluster.js';
import { cannotTell, effect, happened } from '../client/effect.js';
import { task } from '../client/task.js';
import { advanceUntil, Link } from '../testkit/index.js';
import type { HandlerContext } from './task-definition.js';

/** What a handler may do of its own between two steps, and takes more than promises: reading a file, hashing, importing. */
async function ownCode(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => void setImmediate(resolve));
}

type Way = (context: HandlerContext<unknown>) => Promise<unknown>;
const WAYS: Readonly<Record<string, Way>> = {
  'in the first attempt': async () => undefined,
  'past a failure that was caught': ({ step }) =>
    step.run('flaky', () => Promise.reject(new Error('no'))).catch(() => undefined),
  'in a later attempt': async ({ step, job }) => {
    await step.run('once', () => 1);
    if (job.attempt === 1) throw new Error('not yet');
  },
};

/** What the handler comes to behind its own code. */
const THEN: Readonly<Record<string, Way>> = {
  'a step': ({ step }) => step.run('b', () => 1),
  'a failure': ({ step }) => step.run('b', () => Promise.reject(new Error('no'))).catch(() => undefined),
  'a value': ({ step }) => step.now(),
  'the effect': async () => undefined,
};

test.each(
  Object.entries(WAYS).flatMap(([name, way]) =>
    Object.entries(THEN).flatMap(([behind, comesTo]) => [
      { name, way, behind, comesTo, loser: 'recorded' },
      { name, way, behind, comesTo, loser: 'new' },
    ]),
  ),
)(
  'GUA-4 GUA-6 own code between two steps loses no race that was won: $name, $behind behind it, the loser is $loser',
  async ({ way, comesTo, loser }) => {
    const cluster = newCluster();
    const link = new Link(cluster.store);
    const winners: string[] = [];
    const entered: string[] = [];
    const pay = effect({
      name: 'pay',
      settle: 0,
      run: (who: string) => entered.push(who),
      reconcile: () => happened(0),
    });
    const race = task({ name: 'race' }, async (context) => {
      await way(context);
      const { step } = context;
      const isFirst = winners.length === 0;
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const one = async () => {
        await step.run('a', () => 1);
        await ownCode();
        await comesTo(context);
        return 'one';
      };
      const two = step.run('t', () => (isFirst ? held.then(() => 'two') : 'two'));
      const winner = await Promise.race([one(), two]);
      winners.push(winner);
      await step.effect(`pay-${winner}`, pay, winner);
      if (!isFirst) return;
      if (loser === 'recorded') {
        release();
        await two;
      }
      link.down = true;
      await new Promise(() => undefined);
    });
    const doomed = await cluster.join([race], {}, link.store);
    const { job } = await doomed.app.start(race, null);
    await advanceUntil(cluster.clock, () => link.down);
    const next = await cluster.join([race]);
    expect((await next.ended(next.app.job(job.id))).status).toBe('succeeded');
    expect({ winners, entered }).toEqual({ winners: ['one', 'one'], entered: ['one'] });
  },
);

/** Why nobody can tell whether a charge happened. */
const UNKNOWN = [
  ['nothing can tell', null],
  ['asking fails', () => Promise.reject(new Error('provider is down'))],
  ['asking does not help', () => cannotTell()],
] as const;

const chargeWith = (reconcile: (typeof UNKNOWN)[number][1]) =>
  effect({
    name: 'charge',
    settle: 0,
    onUnknown: 'fail',
    run: () => Promise.reject(new Error('socket hang up')),
    ...(reconcile && { reconcile }),
  });

test.each(UNKNOWN)(
  'GUA-4 a handler that goes on past an effect of unknown outcome has not left its path: %s',
  async (_, reconcile) => {
    const cluster = newCluster();
    const charge = chargeWith(reconcile);
    const two = task({ name: 'two' }, async ({ step }) => {
      const one = async () => {
        const failed = await step.effect('charge', charge, null).then(
          () => 'charged',
          () => 'unknown',
        );
        await step.run('tell', () => failed);
        return failed;
      };
      const other = async () => {
        await step.sleep('rest', '1h');
        return step.run('next', () => 'next');
      };
      return Promise.all([one(), other()]);
    });
    const { app, ended } = await cluster.join([two]);
    const { job } = await app.start(two, null);
    expect(await ended(job)).toMatchObject({ status: 'succeeded', result: '["unknown","next"]' });
  },
);

test.each(UNKNOWN)(
  'GUA-4 nor has one that was killed when it had gone on, beside a step that was being run: %s',
  async (_, reconcile) => {
    const cluster = newCluster();
    const link = new Link(cluster.store);
    const charge = chargeWith(reconcile);
    let runs = 0;
    const two = task({ name: 'two' }, async ({ step }) => {
      const isFirst = (runs += 1) === 1;
      const one = async () => {
        const failed = await step.effect('charge', charge, null).catch(() => 'unknown');
        await step.run('tell', () => failed);
        if (!isFirst) return failed;
        link.down = true;
        return new Promise(() => undefined);
      };
      return Promise.all([one(), step.run('next', () => (isFirst ? new Promise(() => undefined) : 'next'))]);
    });
    const doomed = await cluster.join([two], {}, link.store);
    const { job } = await doomed.app.start(two, null);
    await advanceUntil(cluster.clock, () => link.down);
    const next = await cluster.join([two]);
    const over = await next.ended(next.app.job(job.id), { atMost: '1h' });
    expect(over).toMatchObject({ status: 'succeeded', result: '["unknown","next"]' });
  },
);

test('GUA-6 a branch that nobody waits for, and is slow in code of its own, does not undo that the handler has returned', async () => {
  const cluster = newCluster();
  const link = new Link(cluster.store);
  const later = (ms: number): Promise<null> =>
    new Promise((resolve) => void cluster.clock.after(ms, () => resolve(null)));
  const note = effect({ name: 'note', run: () => null });
  let runs = 0;
  const job = task({ name: 'job' }, async ({ step }) => {
    const isFirst = (runs += 1) === 1;
    const watch = async () => {
      await step.run('look', () => 1);
      await later(8_000);
      await step.effect('note', note, null);
      if (isFirst) link.down = true;
    };
    void watch();
    await step.run('work', () => later(7_000));
    return isFirst ? new Promise(() => undefined) : 'done';
  });
  const doomed = await cluster.join([job], {}, link.store);
  const { job: handle } = await doomed.app.start(job, null);
  await advanceUntil(cluster.clock, () => link.down);
  const next = await cluster.join([job]);
  const over = await next.ended(next.app.job(handle.id), { atMost: '1h' });
  expect(over).toMatchObject({ status: 'succeeded', result: '"done"' });
});

test.each(['first', 'second'])(
  'GUA-4 GUA-6 a barrier that is met again overtakes no step that had won against it: in the %s attempt',
  async (attempt) => {
    const cluster = newCluster();
    let link = new Link(cluster.store);
    const crash = (): Promise<never> => {
      link.down = true;
      return new Promise(() => undefined);
    };
    const lost = effect({
      name: 'lost',
      onUnknown: 'fail',
      run: () => (attempt === 'first' ? crash() : Promise.reject(new Error('line dead'))),
    });
    const entered: string[] = [];
    const pay = effect({
      name: 'pay',
      settle: 0,
      run: (who: string) => (entered.push(who) === 1 ? crash() : null),
      reconcile: () => happened(null),
    });
    const race = task({ name: 'race' }, async ({ step, job }) => {
      const unknown = () => step.effect('lost', lost, null).catch(() => 'unknown');
      if (attempt === 'second' && job.attempt === 1) {
        await unknown();
        throw new Error('again');
      }
      const winner = await Promise.race([step.run('a', () => 'a'), unknown()]);
      await step.effect(`pay-${winner}`, pay, winner);
      return winner;
    });
    const client = await cluster.join([race], false);
    const { job } = await client.app.start(race, null);
    const isOver = async () => (await job.status()).finishedAt !== null;
    do {
      link = new Link(cluster.store);
      await cluster.join([race], {}, link.store);
      await advanceUntil(cluster.clock, async () => link.down || (await isOver()), { atMost: '1d' });
    } while (!(await isOver()));
    expect(await job.status()).toMatchObject({ status: 'succeeded', result: '"a"' });
    expect(entered).toEqual(['a']);
  },
);
