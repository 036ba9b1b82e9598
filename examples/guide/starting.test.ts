import { expect, test } from 'vitest';
import { task, type HandlerContext } from '../../src/index.js';
import { advanceUntil } from '../../src/testkit/index.js';
import { openApp } from './open-app.js';

const HOUR = 3_600_000;
const ran: string[] = [];

const remind = task({ name: 'remind' }, ({ input, job }: HandlerContext<{ user: string }>) => {
  ran.push(input.user);
  return { user: input.user, jobId: job.id };
});

test('at once, later, first', async () => {
  const { app, clock } = await openApp([remind]);

  const { job } = await app.start(remind, { user: 'ada' });
  await app.start(remind, { user: 'bob' }, { delay: '1h' });
  await app.start(remind, { user: 'cy' }, { runAt: new Date('2026-01-01T12:00:00Z') });

  const result = await job.result({ timeout: '30s' });

  expect(result).toEqual({ user: 'ada', jobId: job.id });
  const began = clock.now();
  await advanceUntil(clock, () => ran.includes('bob'));
  expect(clock.now() - began).toBeGreaterThanOrEqual(HOUR);
  expect(ran).not.toContain('cy');
  await advanceUntil(clock, () => ran.includes('cy'));
  expect(clock.now()).toBeGreaterThanOrEqual(Date.UTC(2026, 0, 1, 12));
});

test('one job for one key', async () => {
  const { app } = await openApp([remind]);

  const key = { idempotencyKey: 'welcome-ada', scope: 'mails' };
  const first = await app.start(remind, { user: 'ada' }, key);
  const again = await app.start(remind, { user: 'ada' }, key);

  expect(first.idempotentHit).toBe(false);
  expect(again.idempotentHit).toBe(true);
  expect(again.job.id).toBe(first.job.id);
  await expect(app.start(remind, { user: 'bob' }, key)).rejects.toMatchObject({
    code: 'DUPLICATE',
    details: { jobId: first.job.id, conflictFields: ['input'] },
  });
  const elsewhere = await app.start(remind, { user: 'bob' }, { ...key, scope: 'letters' });
  expect(elsewhere.idempotentHit).toBe(false);
});

test('many at once, the urgent first', async () => {
  ran.length = 0;
  const { app, clock } = await openApp([remind], { work: null });

  const users = ['ada', 'bob', 'cy'];
  const started = await app.startMany(
    remind,
    users.map((user) => ({ input: { user }, options: { idempotencyKey: `welcome-${user}` } })),
  );
  await app.start(remind, { user: 'vip' }, { priority: 100 });

  expect(started.map(({ idempotentHit }) => idempotentHit)).toEqual([false, false, false]);
  await app.work({ concurrency: 1 });
  await advanceUntil(clock, () => ran.length === 4);
  expect(ran[0]).toBe('vip');
});

test('asking for a job from elsewhere, and giving it up', async () => {
  const { app, clock } = await openApp([remind]);
  const { id } = (await app.start(remind, { user: 'ada' }, { delay: '1d' })).job;

  const job = app.job<{ user: string }>(id);
  const { status } = await job.status();
  const { code, sentence } = await job.why();
  await job.cancel({ reason: 'the user is gone' });

  expect(status).toBe('scheduled');
  expect({ code, sentence }).toEqual({ code: 'not_due', sentence: 'It is due at 2026-01-02T00:00:00Z.' });
  await expect(advanceUntil(clock, job.result())).rejects.toMatchObject({ code: 'JOB_CANCELLED' });
});
