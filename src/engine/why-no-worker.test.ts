import { expect, onTestFinished, test } from 'vitest';
import { pawl, task } from '../index.js';
import { fakeClock, T0 } from '../testkit/index.js';

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

test('a worker whose lease has run out is no live worker, even if nobody is there to declare it dead', async () => {
  const clock = fakeClock(T0);
  const nap = task({ name: 'nap' }, () => null);
  const app = await pawl({ store: 'memory:', tasks: [nap], clock, log });
  onTestFinished(() => app.close());
  await app.work({ lease: '30s' });
  await app.stop();
  const { job } = await app.start(nap, null);
  clock.advance(60_000);
  expect((await job.why()).code).toBe('no_worker');
});
