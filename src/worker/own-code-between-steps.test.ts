import { expect, test } from 'vitest';
import { newCluster } from '../../test/new-cluster.js';
import { effect, happened } from '../client/effect.js';
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

test.each(
  Object.entries(WAYS).flatMap(([name, way]) => [
    { name, way, loser: 'recorded' },
    { name, way, loser: 'new' },
  ]),
)(
  'GUA-4 GUA-6 own code between two steps loses no race that was won: $name, the loser is $loser',
  async ({ way, loser }) => {
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
        await step.run('b', () => 1);
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

test.each([
  ['nothing can tell', {}],
  ['asking fails', { reconcile: () => Promise.reject(new Error('provider is down')) }],
])(
  'GUA-4 a handler that goes on past an effect of unknown outcome has not left its path: %s',
  async (_, more) => {
    const cluster = newCluster();
    const charge = effect({
      name: 'charge',
      settle: 0,
      onUnknown: 'fail',
      run: () => Promise.reject(new Error('socket hang up')),
      ...more,
    });
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
