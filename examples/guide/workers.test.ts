import { expect, test } from 'vitest';
import { task, type HandlerContext, type Pawl } from '../../src/index.js';
import { advanceUntil, fakeClock } from '../../src/testkit/index.js';
import { newStore, openApp } from './open-app.js';

test('a worker that stops lets jobs end, and hands back what does not', async () => {
  const store = newStore();
  const clock = fakeClock(Date.UTC(2026, 0, 1));
  const started: string[] = [];
  const stuck = new Promise<string>(() => undefined);
  const work = task({ name: 'work' }, async ({ input, step }: HandlerContext<{ takes: string }>) => {
    started.push(input.takes);
    return step.run('work', () => (input.takes === 'long' && started.length === 2 ? stuck : 'done'));
  });
  const { app } = await openApp([work], { store, clock, work: null });

  await app.work({ concurrency: 20, lease: '30s', drain: '10s', queues: ['default'] });

  const short = await app.start(work, { takes: 'short' });
  await advanceUntil(clock, short.job.result());
  const long = await app.start(work, { takes: 'long' });
  await advanceUntil(clock, () => started.length === 2);
  const running = await long.job.why();
  await advanceUntil(clock, app.stop());
  clock.advance(60_000);
  const { status, retryCount } = await long.job.status();
  const { code, sentence } = await long.job.why();

  expect(running.code).toBe('running');
  expect({ status, retryCount, code }).toEqual({ status: 'interrupted', retryCount: 0, code: 'no_worker' });
  expect(sentence).toBe("No live worker knows task 'work' on queue 'default'.");

  await app.work();
  expect(await advanceUntil(clock, long.job.result())).toBe('done');
});

test('jobs that share a key take turns', async () => {
  let running = 0;
  let most = 0;
  const sync = task(
    { name: 'sync', concurrency: { key: (input: { customer: string }) => input.customer, limit: 2 } },
    async ({ step }: HandlerContext<{ customer: string }>) => {
      most = Math.max(most, ++running);
      await step.run('work', () => new Promise((resolve) => setImmediate(resolve)));
      running -= 1;
    },
  );
  const { app, clock } = await openApp([sync]);
  const jobs = await app.startMany(
    sync,
    Array.from({ length: 9 }, () => ({ input: { customer: 'acme' } })),
  );
  await advanceUntil(clock, Promise.all(jobs.map(({ job }) => job.result())));
  expect(most).toBe(2);
});

test('a process that is told to end stops its worker first', async () => {
  const { app } = await openApp([]);

  function stopOnSignal(running: Pawl): void {
    process.once('SIGTERM', () => {
      running.close().catch(() => process.exit(1));
    });
  }

  const before = process.listeners('SIGTERM');
  stopOnSignal(app);
  const mine = process.listeners('SIGTERM').find((one) => !before.includes(one));
  mine?.('SIGTERM');
  process.off('SIGTERM', mine ?? (() => undefined));
  await expect(app.work()).rejects.toMatchObject({ code: 'APP_CLOSED' });
});
