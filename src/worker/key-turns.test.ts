import { expect, onTestFinished, test } from 'vitest';
import { pawl, task, type HandlerContext } from '../index.js';
import { fakeClock, T0 } from '../testkit/index.js';

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

test('jobs that share a concurrency key follow each other at once, not at the next poll', async () => {
  const clock = fakeClock(T0);
  const turn = task(
    { name: 'turn', concurrency: { key: (input: { key: string }) => input.key, limit: 1 } },
    ({ input }: HandlerContext<{ key: string }>) => input.key,
  );
  const app = await pawl({ store: 'memory:', tasks: [turn], clock, log });
  onTestFinished(() => app.close());
  await app.work({ poll: '1h' });
  const jobs = await app.startMany(
    turn,
    Array.from({ length: 5 }, () => ({ input: { key: 'acme' } })),
  );
  // The clock stands still: whoever waited for a poll would never end.
  await Promise.all(jobs.map(({ job }) => job.result()));
  expect(clock.now()).toBe(T0);
});
