import { expect, test } from 'vitest';
import { task, type HandlerContext } from '../../src/index.js';
import { advanceUntil } from '../../src/testkit/index.js';
import { openApp } from './open-app.js';

const outbox: string[] = [];
const mailer = { send: async (to: string) => outbox.push(to) };
type User = { email: string };

test('what stands outside of steps happens again in every replay', async () => {
  const wrong = task({ name: 'wrong' }, async ({ input, step }: HandlerContext<User>) => {
    await mailer.send(input.email); // outside of a step: sent again whenever the handler is run anew
    await step.sleep('a day', '1d');
  });
  const right = task({ name: 'right' }, async ({ input, step }: HandlerContext<User>) => {
    await step.run('mail', () => mailer.send(input.email));
    await step.sleep('a day', '1d');
  });

  const { app, clock } = await openApp([wrong, right]);
  for (const one of [wrong, right]) {
    const { job } = await app.start(one, { email: one.name });
    await advanceUntil(clock, async () => (await job.status()).status === 'succeeded');
  }
  expect(outbox).toEqual(['wrong', 'wrong', 'right']);
});

test('a step returns what was recorded: what JSON makes of it', async () => {
  const dates = task({ name: 'dates' }, async ({ step }) => {
    const at: string = await step.run('when', () => new Date(0));
    return at;
  });
  const { app } = await openApp([dates]);
  const { job } = await app.start(dates, null);
  expect(await job.result()).toBe('1970-01-01T00:00:00.000Z');
});
