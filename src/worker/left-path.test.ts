import { describe, expect, onTestFinished, test } from 'vitest';
import { effect } from '../client/effect.js';
import { task } from '../client/task.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp } from '../testkit/index.js';
import { turns } from '../../test/turns.js';
import type { HandlerContext } from './task-definition.js';

type Handler = (context: HandlerContext<unknown>) => unknown;

const free = effect({ name: 'free', run: () => null });

describe('a handler that does not follow its history', () => {
  /** A job that sleeps under the first handler, and wakes under the second. */
  async function redeploy(first: Handler, second: Handler) {
    const clock = fakeClock(T0);
    const store = memoryStore({ clock });
    const before = task({ name: 'job' }, first);
    const one = await testApp({ tasks: [before], clock, store: shared(store) });
    const { job } = await one.app.start(before, null);
    await one.idle();
    await one.stop();
    const errors: string[] = [];
    const log = { debug: () => 0, info: () => 0, warn: () => 0, error: () => 0 } as const;
    const two = await testApp({
      tasks: [task({ name: 'job' }, second)],
      clock,
      store: shared(store),
      log: { ...log, error: (_message, fields) => errors.push(String(fields?.error)) },
    });
    onTestFinished(() => two.stop());
    return { ...two, job: two.app.job(job.id), store, errors };
  }

  const parked = ({ job, clock }: Awaited<ReturnType<typeof redeploy>>) =>
    advanceUntil(
      clock,
      async () => (await job.status()).waits.some(({ reason }) => reason === 'nondeterminism'),
      { atMost: 86_400_000 },
    );

  test.each<[string, Handler, RegExp]>([
    ['another kind', ({ step }) => step.sleep('quote', '1m'), /at step 'quote#1'/],
    ['a step left out', ({ step }) => step.run('other', () => 1), /history has 'quote#1' there/],
    [
      'a step left out, the refusal of which it has caught',
      ({ step }) => step.run('other', () => 1).catch(() => 'never mind'),
      /history has 'quote#1' there/,
    ],
    [
      'a step left out, on the way to a checkpoint',
      async ({ step }) => (step.resume(0), step.checkpoint(1)),
      /at step '\$checkpoint#1': history has 'quote#1' there/,
    ],
    ['a signal', ({ step }) => step.waitFor('quote'), /at step 'quote#1'/],
    [
      'one that never ends',
      async ({ step }) => {
        await step.run('other', () => 1).catch(() => undefined);
        await new Promise(() => undefined);
      },
      /history has 'quote#1' there/,
    ],
    [
      'another failure on another path',
      async ({ step }) => {
        await step.sleep('quote', '1m').catch(() => undefined);
        throw new Error('out of quotes');
      },
      /at step 'quote#1'/,
    ],
  ])(
    'NONDETERMINISM names the step and parks the job, which never fails for that: %s',
    async (_, second, message) => {
      const rig = await redeploy(async ({ step }) => {
        await step.run('quote', () => 1);
        await step.sleep('pause', '1h');
      }, second);
      await parked(rig);
      expect(rig.errors.join()).toMatch(message);
      expect(await rig.job.why()).toMatchObject({ code: 'nondeterminism' });
      expect(await rig.job.status()).toMatchObject({ deadLetter: null, checkpointRev: null });
    },
  );

  test('a rollback and resume heal it', async () => {
    const right: Handler = async ({ step }) => {
      const quote = await step.run('quote', () => 1);
      await step.sleep('pause', '1h');
      return quote;
    };
    const rig = await redeploy(right, ({ step }) => step.sleep('quote', '1m'));
    await parked(rig);
    await rig.app.stop();
    const healed = await testApp({
      tasks: [task({ name: 'job' }, right)],
      clock: rig.clock,
      store: shared(rig.store),
    });
    onTestFinished(() => healed.stop());
    await healed.app.resume(rig.job.id, { by: 'ann' });
    expect((await healed.ended(rig.job)).result).toBe('1');
    await expect(healed.app.resume(rig.job.id, { by: 'ann' })).rejects.toMatchObject({
      code: 'WAIT_NOT_OPEN',
    });
  });

  test('GUA-4 one that would catch it hears nothing, enters no effect, and runs no step', async () => {
    const entered: number[] = [];
    const pay = effect({ name: 'pay', run: (amount: number) => entered.push(amount) });
    const rig = await redeploy(
      async ({ step }) => {
        await step.effect('charge', pay, 5);
        await step.sleep('pause', '1h');
      },
      async ({ step }) => {
        await step.effect('charge', pay, 6).catch(() => entered.push(0));
        await step.run('note', () => entered.push(0)).catch(() => undefined);
        await step.effect('refund', pay, -6).catch(() => undefined);
        return 'refunded';
      },
    );
    await parked(rig);
    expect(entered).toEqual([5]);
    expect(rig.errors.join()).toMatch(
      /at step 'charge#1': history has the effect there, with other arguments/,
    );
  });

  test.each<[string, Handler]>([
    ['an effect', () => 'nothing to pay'],
    ['a child', ({ step }) => step.effect('charge', free, null)],
  ])('GUA-4 one that returns without having asked for %s is parked', async (missed, second) => {
    const rig = await redeploy(async ({ step }) => {
      await step.effect('charge', free, null);
      void step.call(
        'kid',
        task({ name: 'kid' }, () => null),
        null,
      );
      await step.sleep('pause', '1h');
    }, second);
    await parked(rig);
    const step = missed === 'an effect' ? 'charge#1' : 'kid#1';
    expect(rig.errors.join()).toContain(`at step '${step}': it returned without asking for that`);
  });

  test('one that goes on past a checkpoint that was refused is on its path', async () => {
    let refusals = 0;
    const handler: Handler = async ({ step }) => {
      const open = step.sleep('open', '2h');
      await step.checkpoint(1).catch(() => (refusals += 1));
      await step.run('next', () => 1);
      await step.sleep('pause', '1h');
      await open;
      return 'done';
    };
    const rig = await redeploy(handler, handler);
    const over = await rig.ended(rig.job, { atMost: '1d' });
    expect(over).toMatchObject({ status: 'succeeded', result: '"done"' });
    expect(refusals).toBeGreaterThan(1);
    expect(rig.errors).toEqual([]);
  });

  test('one that has returned, and comes to the rest of its history a moment later, is on its path', async () => {
    const rig = await redeploy(
      async ({ step }) => {
        await step.effect('aside', free, null);
        await step.sleep('pause', '1h');
      },
      ({ step }) => {
        void turns(50).then(() => step.effect('aside', free, null));
        void step.sleep('pause', '1h');
        return 'done';
      },
    );
    expect(await rig.ended(rig.job)).toMatchObject({ status: 'succeeded', result: '"done"' });
    expect(rig.errors).toEqual([]);
  });
});

/** A store that several apps of one test use, one after the other. */
function shared(store: ReturnType<typeof memoryStore>): ReturnType<typeof memoryStore> {
  return { ...store, close: async () => undefined };
}
