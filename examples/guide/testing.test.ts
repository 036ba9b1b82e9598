import { expect, test } from 'vitest';
import { pawl, task } from '../../src/index.js';
import { advanceUntil, fakeClock } from '../../src/testkit/index.js';

const trial = task({ name: 'trial' }, async ({ step }) => {
  await step.sleep('trial', '30d');
  return 'over';
});

test('a trial ends after thirty days', async () => {
  const clock = fakeClock(Date.UTC(2026, 0, 1));
  const app = await pawl({ store: 'memory:', tasks: [trial], clock });
  await app.work({ poll: '1h', lease: '90d' }); // these follow the fake clock too: rare means fast
  const { job } = await app.start(trial, null);
  await advanceUntil(clock, async () => (await job.status()).status === 'succeeded');
  expect(new Date(clock.now()).toISOString()).toBe('2026-01-31T00:00:00.000Z');
  await app.close();
});
