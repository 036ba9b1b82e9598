import { expect, test } from 'vitest';
import { task } from '../client/task.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, T0, testApp } from '../testkit/index.js';
import { StoreTime } from './store-time.js';

test('GUA-13 a store whose clock is set back is followed: what is started then is due then', async () => {
  const clock = fakeClock(T0);
  let wrongBy = 600_000;
  const storeClock = { ...clock, now: () => clock.now() + wrongBy };
  const store = memoryStore({ clock: storeClock });
  const echo = task({ name: 'echo' }, ({ input }) => input);
  const rig = await testApp({ tasks: [echo], clock, store, work: { lease: '1h', poll: '1s' } });
  expect(await rig.ended((await rig.app.start(echo, 1)).job)).toMatchObject({ createdAt: T0 + 600_000 });
  wrongBy = 0;
  clock.advance(1_000);
  await rig.idle();
  const { job } = await rig.app.start(echo, 2);
  const { createdAt, finishedAt } = await rig.ended(job);
  expect(createdAt - T0).toBeLessThan(10_000);
  expect((finishedAt ?? 0) - T0).toBeLessThan(10_000);
  await rig.stop();
});

test('a reply that comes late sets nothing back, and a small correction is waited out', () => {
  const clock = fakeClock(T0);
  const time = new StoreTime(clock);
  time.hear(T0);
  clock.advance(60_000);
  expect(time.now()).toBe(T0 + 60_000);
  // Asked when this clock showed T0, and a minute under way.
  time.hear(T0, T0);
  expect(time.now()).toBe(T0 + 60_000);
  time.hear(T0 + 59_500, T0 + 60_000);
  expect(time.now()).toBe(T0 + 60_000);
  time.hear(T0 + 30_000, T0 + 60_000);
  expect(time.now()).toBe(T0 + 30_000);
});
