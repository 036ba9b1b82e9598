import { expect, onTestFinished, test } from 'vitest';
import { effect, noEffect, notHappened, pawl, task, type Task } from '../index.js';
import { advanceUntil, fakeClock, T0 } from '../testkit/index.js';

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

async function open<R>(run: Task<unknown, R>) {
  const clock = fakeClock(T0);
  const app = await pawl({ store: 'memory:', tasks: [run], clock, log });
  await app.work({ poll: '1m' });
  onTestFinished(() => app.close());
  const { job } = await app.start(run, null);
  const until = (status: string) => advanceUntil(clock, async () => (await job.status()).status === status);
  return { app, clock, job, until };
}

test.each(['0ms', '1m'] as const)(
  'an effect that throws and did not happen is entered once in each attempt, whether it is found out at once or later (settle %s)',
  async (settle) => {
    let entries = 0;
    const lost = effect({
      name: 'lost',
      settle,
      run: (): string => {
        entries += 1;
        throw new Error('socket hang up');
      },
      reconcile: () => notHappened(),
    });
    const run = task({ name: 'lose', retry: { maxRetries: 2 } }, ({ step }) =>
      step.effect('lost', lost, null),
    );
    const { job, until } = await open(run);
    await until('failed');
    expect(entries).toBe(3);
    expect(await job.status()).toMatchObject({ retryCount: 2, failure: { message: 'socket hang up' } });
  },
);

test('a failure that the handler caught is the same in a replay: the effect is not entered behind its back', async () => {
  let entries = 0;
  const refused = effect({
    name: 'refused',
    run: (): string => {
      entries += 1;
      throw noEffect(new Error('no connection'));
    },
  });
  const seen: string[] = [];
  const run = task({ name: 'shrug' }, async ({ step }) => {
    const how = await step.effect('send', refused, null).catch((error: Error) => error.message);
    seen.push(how);
    await step.sleep('a while', '1h');
    return how;
  });
  const { job, until } = await open(run);
  await until('succeeded');
  expect(await job.result()).toBe('no connection');
  expect(seen).toEqual(['no connection', 'no connection']);
  expect(entries).toBe(1);
});

test('an operator who says that it did not happen lets it be entered again, at no cost', async () => {
  let entries = 0;
  const fax = effect({
    name: 'fax',
    run: (): string => {
      entries += 1;
      if (entries === 1) throw new Error('the line went dead');
      return 'sent';
    },
  });
  const run = task({ name: 'fax', retry: { maxRetries: 0 } }, ({ step }) => step.effect('fax', fax, null));
  const { app, job, until } = await open(run);
  await until('waiting');
  await app.resolveEffect(job.id, { step: 'fax', by: 'ada', verdict: 'notHappened' });
  await until('succeeded');
  expect({ entries, result: await job.result() }).toEqual({ entries: 2, result: 'sent' });
});
