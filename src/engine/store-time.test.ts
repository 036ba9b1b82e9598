import { expect, test } from 'vitest';
import { newCluster } from '../../test/new-cluster.js';
import { task } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { advanceUntil, fakeClock, T0 } from '../testkit/index.js';
import { StoreTime } from './store-time.js';

function timeOn(clock = fakeClock(T0)) {
  return { clock, time: new StoreTime(clock) };
}

test('GUA-10 a reply that was long on its way does not take the time back behind what the store has said since', () => {
  const { clock, time } = timeOn();
  time.hear(1_000_000);
  clock.advance(500);
  time.hear(1_000_500);
  // Nobody has looked yet. This was said 400 ms ago.
  time.hear(1_000_100);
  expect(time.now()).toBe(1_000_500);
  clock.advance(300);
  expect(time.now()).toBe(1_000_500);
  clock.advance(200);
  expect(time.now()).toBe(1_000_600);
});

test('GUA-10 for a store whose clock was set back, time stands still until it has caught up', () => {
  const { clock, time } = timeOn();
  time.hear(1_000_000);
  time.hear(400_000);
  clock.advance(599_000);
  expect(time.now()).toBe(1_000_000);
  time.hear(999_000);
  clock.advance(2_000);
  expect(time.now()).toBe(1_001_000);
});

test('the clock of this machine leaves no trace once the store has said what time it is', () => {
  const { time } = timeOn();
  expect(time.now()).toBe(T0);
  time.hear(1_000);
  expect(time.now()).toBe(1_000);
});

test('GUA-10 a job ends after it began, also if the answer to a heartbeat was late', async () => {
  const cluster = newCluster();
  const { clock } = cluster;
  let isLate = false;
  let isSent = false;
  const store: Store = {
    ...cluster.store,
    beat: async (beat) => {
      const reply = await cluster.store.beat(beat);
      if (!isLate) return reply;
      isLate = false;
      isSent = true;
      await new Promise((resolve) => void clock.after(305, () => resolve(null)));
      return reply;
    },
  };
  const job = task(
    { name: 'job' },
    () => new Promise((resolve) => void clock.after(100, () => resolve(null))),
  );
  const worker = await cluster.join([job], { lease: '3s', poll: '10s' }, store);
  const client = await cluster.join([], false);
  isLate = true;
  await advanceUntil(clock, () => isSent);
  // The job begins before the answer arrives, and ends after it.
  clock.advance(250);
  const { job: handle } = await client.app.start(job, null);
  const { startedAt, finishedAt } = await worker.ended(handle);
  expect(finishedAt).toBeGreaterThanOrEqual(startedAt ?? Number.POSITIVE_INFINITY);
});
