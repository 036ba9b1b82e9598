import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { fakeClock } from '../../testkit/fake-clock.js';
import { remoteWakeUps } from './remote-wake-ups.js';

const beat = { worker: { id: 'w', incarnation: 'w.1' }, leaseMs: 30_000, lanes: [] };

test('GUA-11 an outage leaves nothing behind, however often the server was asked meanwhile', async () => {
  const clock = fakeClock(0);
  const asked: AbortSignal[] = [];
  const wakeUps = remoteWakeUps(clock, {
    lastBeat: () => beat,
    ask: async (_body, signal) => {
      asked.push(signal);
      throw new Error('nobody answers');
    },
  });
  const stop = wakeUps.listen(() => undefined);
  const listening = () => getEventListeners(asked[0] ?? new AbortController().signal, 'abort').length;
  for (let outage = 1; outage <= 5; outage++) {
    await expect.poll(() => asked.length).toBe(outage);
    await expect.poll(listening).toBe(1);
    clock.advance(1_000);
  }
  await stop();
  expect(listening()).toBe(0);
});
