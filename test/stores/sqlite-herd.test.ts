import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { advanceUntil, fakeClock, T0, testApp } from '../../src/testkit/index.js';
import { storeFolder } from '../store-folder.js';

const SLEEPERS = 2_000;
const SCHEDULED = 8_000;
const HERD = SLEEPERS + SCHEDULED;
const DUE_AT = T0 + 3_600_000;
const CONCURRENCY = 200;
const POLL_MS = 1_000;

test('TSK-7 ten thousand timers that are due in one moment, and a restart in the midst of them: each fires once, none early, and others get their turn', async () => {
  const folder = storeFolder('pawl-herd-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clock = fakeClock(T0);
  const fired: { name: string; at: number }[] = [];
  const fire = (name: string) => void fired.push({ name, at: clock.now() });
  const sleeper = task<string>({ name: 'sleeper' }, async ({ input, step }) => {
    await step.sleep('an hour', '1h');
    fire(input);
  });
  const scheduled = task<string>({ name: 'scheduled' }, ({ input }) => fire(input));
  const open = async () =>
    testApp({
      store: await sqliteStore({ path: join(folder, 'herd.db'), clock }),
      clock,
      tasks: [sleeper, scheduled],
      work: { concurrency: CONCURRENCY, lease: '10m', poll: POLL_MS },
    });
  const many = (name: string, count: number, options = {}) =>
    Array.from({ length: count }, (_, n) => ({ input: `${name} ${n}`, options }));

  const before = await open();
  await before.app.startMany(sleeper, many('sleeper', SLEEPERS));
  await before.app.startMany(scheduled, many('scheduled', SCHEDULED, { runAt: DUE_AT }));
  await advanceUntil(clock, async () => (await before.app.counts()).waiting === SLEEPERS);
  clock.advance(DUE_AT - clock.now());
  await advanceUntil(clock, () => fired.length > HERD / 10);
  await before.stop();

  const after = await open();
  const backlog = HERD - fired.length;
  expect(backlog).toBeGreaterThan(HERD / 2);
  await after.app.start(scheduled, 'stranger', { tenantId: 'elsewhere' });
  await advanceUntil(clock, async () => (await after.app.counts()).succeeded === HERD + 1);
  await after.stop();

  const delays = fired.map(({ at }) => at - DUE_AT);
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  // A page of them follows the other: with a poll for each, timers alone would take ten.
  expect(Math.max(...delays)).toBeLessThan(5 * POLL_MS);
  const names = fired.map(({ name }) => name);
  expect([names.length, new Set(names).size]).toEqual([HERD + 1, HERD + 1]);
  const ahead = names.indexOf('stranger') - (HERD - backlog);
  expect(ahead).toBeLessThan(5 * CONCURRENCY);
});
