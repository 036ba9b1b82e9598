import { describe, expect, onTestFinished, test } from 'vitest';
import { effect, noEffect, notHappened } from '../client/effect.js';
import { task } from '../client/task.js';
import type { Job } from '../kernel/index.js';
import { testApp } from '../testkit/index.js';
import type { HandlerContext } from './task-definition.js';

/** Runs a handler as a job, to its end. */
async function runJob(handler: (context: HandlerContext<unknown>) => unknown): Promise<Job> {
  const job = task({ name: 'job' }, handler);
  const rig = await testApp({ tasks: [job] });
  onTestFinished(() => rig.stop());
  return rig.ended((await rig.app.start(job, null)).job);
}

describe('what raced in the first run has the same winner in every replay', () => {
  test('of two results', async () => {
    const winners: string[] = [];
    let release: () => void = () => undefined;
    const job = await runJob(async ({ step }) => {
      const slow = step.run('slow', async () => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return 'slow';
      });
      const fast = step.run('fast', async () => {
        setImmediate(() => setImmediate(release));
        return 'fast';
      });
      const winner = await Promise.race([slow, fast]);
      winners.push(winner);
      await Promise.all([slow, fast]);
      await step.sleep('pause', '1h');
      return winner;
    });
    expect(job.result).toBe('"fast"');
    expect(winners).toEqual(['fast', 'fast']);
  });

  test('of results that share a commit the first in the log wins, however far the handler is from it', async () => {
    const winners: string[] = [];
    const job = await runJob(async ({ step }) => {
      // The first is saved by itself; the other two share the next commit.
      const ahead = step.run('ahead', () => 0);
      let far: Promise<string> = step.run('far', () => 'far');
      for (let hops = 0; hops < 50; hops++) far = far.then((value) => value);
      const near = step.run('near', () => 'near');
      winners.push(await Promise.race([far, near]));
      await Promise.all([ahead, far, near]);
      await step.sleep('pause', '1h');
    });
    expect(job.status).toBe('succeeded');
    expect(winners).toEqual(['far', 'far']);
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'GUA-6 of results that are saved one after the other the first in the log wins, though a store answers at once: %i',
    async (later) => {
      const winners: string[] = [];
      const job = await runJob(async ({ step }) => {
        let far: Promise<string> = step.run('far', () => 'far');
        for (let hops = 0; hops < 50; hops++) far = far.then((value) => value);
        const near = step.run('near', async () => {
          for (let hops = 0; hops < later; hops++) await Promise.resolve();
          return 'near';
        });
        winners.push(await Promise.race([far, near]));
        await Promise.all([far, near]);
        await step.sleep('pause', '1h');
      });
      expect(job.status).toBe('succeeded');
      expect(winners).toEqual(['far', 'far']);
    },
  );

  const failing = {
    'a step that fails': null,
    'an effect that proves not to have happened': effect({
      name: 'refused',
      run: async (): Promise<string> => {
        await turn;
        throw noEffect(new Error('no connection'));
      },
    }),
    'an effect that is found out not to have happened': effect({
      name: 'lost',
      settle: 0,
      run: async (): Promise<string> => {
        await turn;
        throw new Error('socket hang up');
      },
      reconcile: () => notHappened(),
    }),
  };
  let turn: Promise<void> = Promise.resolve();

  /** How often what fails is ahead, of two runs. */
  async function race(
    lost: (typeof failing)[keyof typeof failing],
    { failsFirst }: { failsFirst: boolean },
  ): Promise<string[]> {
    const winners: string[] = [];
    const order: { first: () => void; second: () => void } = { first: () => 0, second: () => 0 };
    const mayFail = new Promise<void>((resolve) => {
      order[failsFirst ? 'first' : 'second'] = resolve;
    });
    const mayReturn = new Promise<void>((resolve) => {
      order[failsFirst ? 'second' : 'first'] = resolve;
    });
    turn = mayFail;
    await runJob(async ({ step }) => {
      const fails =
        lost === null
          ? step.run('fails', async () => {
              await mayFail;
              throw new Error('no');
            })
          : step.effect('fails', lost, null);
      const returns = step.run('returns', async () => {
        await mayReturn;
        return 'returned';
      });
      order.first();
      const winner = await Promise.race([fails, returns]).catch(() => 'failed');
      winners.push(winner);
      order.second();
      await Promise.allSettled([fails, returns]);
      await step.sleep('pause', '1h');
    });
    return winners;
  }

  test.each(Object.entries(failing))('GUA-6 of a result and a failure: %s', async (_, lost) => {
    expect(await race(lost, { failsFirst: false })).toEqual(['returned', 'returned']);
    expect(await race(lost, { failsFirst: true })).toEqual(['failed', 'failed']);
  });

  test('GUA-6 a sleep that ran out while nobody held the job does not overtake a failure that had won against it', async () => {
    const winners: string[] = [];
    await runJob(async ({ step }) => {
      const fails = step.run('fails', () => Promise.reject(new Error('no')));
      const limit = step.sleep('limit', '5s').then(() => 'limit');
      winners.push(await Promise.race([fails, limit]).catch(() => 'failed'));
      await step.sleep('pause', '1h');
      await limit;
    });
    expect(new Set(winners)).toEqual(new Set(['failed']));
    expect(winners.length).toBeGreaterThan(1);
  });

  test('GUA-6 a step that failed in one attempt and came to a result in the next has the place of the result', async () => {
    const winners: string[] = [];
    let attempts = 0;
    const job = await runJob(async ({ step, job: { attempt } }) => {
      attempts = Math.max(attempts, attempt);
      const flaky = step.run('flaky', async () => {
        if (attempts === 1) throw new Error('not yet');
        await step.run('other', () => 1);
        return 'flaky';
      });
      if (attempt === 1) await flaky;
      const steady = step.run('steady', () => 'steady');
      winners.push(await Promise.race([flaky, steady]));
      await Promise.all([flaky, steady]);
      await step.sleep('pause', '1h');
    });
    expect(job).toMatchObject({ status: 'succeeded', retryCount: 1 });
    expect(winners).toEqual(['steady', 'steady']);
  });
});
