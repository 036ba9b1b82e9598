import { expect, test } from 'vitest';
import { pawl, task } from '../../src/index.js';
import { advanceUntil, fakeClock } from '../../src/testkit/index.js';
import { newStore, openApp, RARELY } from './open-app.js';

test('a job is run by the version that it was started with', async () => {
  const store = newStore();
  const clock = fakeClock(Date.UTC(2026, 0, 1));
  const v1 = task({ name: 'report', version: '1' }, async ({ step }) => {
    await step.sleep('night', '8h');
    return 'by version 1';
  });
  const v2 = task({ name: 'report', version: '2' }, () => 'by version 2');

  const before = await openApp([v1], { store, clock });
  const { job } = await before.app.start(v1, null);
  await advanceUntil(clock, async () => (await job.status()).status === 'waiting');
  await before.app.close();

  const app = await pawl({ store, tasks: [v1, v2], clock });
  await app.work(RARELY);

  const same = app.job(job.id);
  await advanceUntil(clock, async () => (await same.status()).status === 'succeeded');
  expect(await same.result()).toBe('by version 1');
  const fresh = await app.start(v2, null);
  expect(await advanceUntil(clock, fresh.job.result())).toBe('by version 2');
  await app.close();
});

test('a handler that leaves its history parks the job, and the right code heals it', async () => {
  const store = newStore();
  const clock = fakeClock(Date.UTC(2026, 0, 1));
  const before = task({ name: 'report' }, async ({ step }) => {
    const rows = await step.run('collect', () => 42);
    await step.sleep('night', '8h');
    return rows;
  });
  const renamed = task({ name: 'report' }, async ({ step }) => {
    const rows = await step.run('gather', () => 42); // was 'collect': jobs under way know no 'gather'
    await step.sleep('night', '8h');
    return rows;
  });

  const first = await openApp([before], { store, clock });
  const { job } = await first.app.start(before, null);
  await advanceUntil(clock, async () => (await job.why()).code === 'timer');
  await first.app.close();

  const second = await openApp([renamed], { store, clock });
  await advanceUntil(clock, async () => (await second.app.why(job.id)).code === 'nondeterminism');
  await second.app.close();

  const { app } = await openApp([before], { store, clock });
  await app.resume(job.id, { by: 'ada' });
  expect(await advanceUntil(clock, app.job(job.id).result())).toBe(42);
});
