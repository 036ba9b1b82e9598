import { expect, test } from 'vitest';
import { fatal, task, type HandlerContext } from '../../src/index.js';
import { advanceUntil } from '../../src/testkit/index.js';
import { openApp } from './open-app.js';

test('a plain throw is retried, a fatal one is not', async () => {
  const seen: number[] = [];
  const accounts = new Map([['ada', 'open']]);

  const close = task(
    { name: 'close-account', retry: { maxRetries: 3, baseMs: 1_000, maxBackoffMs: 30_000, jitterMs: 300 } },
    async ({ input, job }: HandlerContext<{ user: string }>) => {
      const account = accounts.get(input.user);
      if (account === undefined) throw fatal(new Error(`there is no user ${input.user}`));
      seen.push(job.attempt);
      if (job.attempt < 3) throw new Error('the bank is busy');
      return 'closed';
    },
  );

  const { app, clock } = await openApp([close]);
  const { job } = await app.start(close, { user: 'ada' });
  expect(await advanceUntil(clock, job.result())).toBe('closed');
  expect(seen).toEqual([1, 2, 3]);

  const nobody = await app.start(close, { user: 'nobody' });
  await expect(advanceUntil(clock, nobody.job.result())).rejects.toMatchObject({
    code: 'JOB_FAILED',
    details: {
      failure: { code: 'TASK_EXECUTION_FAILED', message: 'there is no user nobody', retryable: false },
    },
  });
  expect((await nobody.job.status()).retryCount).toBe(0);
});

test('an attempt that takes too long is over, and the handler is told', async () => {
  let told = 0;
  const forever = (signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        told += 1;
        reject(new Error('told to stop'));
      });
    });

  const slow = task({ name: 'slow', timeout: '30s', retry: { maxRetries: 1 } }, async ({ step }) =>
    step.run('download', ({ signal }) => forever(signal)),
  );

  const { app, clock } = await openApp([slow]);
  const { job } = await app.start(slow, null);
  await expect(advanceUntil(clock, job.result())).rejects.toMatchObject({
    details: { failure: { code: 'TASK_TIMEOUT', retryable: true } },
  });
  expect(told).toBe(2);
});
