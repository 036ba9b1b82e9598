import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { laneOf } from '../../src/kernel/index.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { aJobSpec, Rig } from '../../src/testkit/index.js';

/** Two connections to one file, as two processes would have. */
async function twoConnections() {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-wake-'));
  const rig = await Rig.start(({ clock }) => sqliteStore({ path: join(folder, 'pawl.db'), clock }));
  onTestFinished(async () => {
    await rig.stop();
    rmSync(folder, { recursive: true });
  });
  return { rig, hearer: await rig.connect() };
}

const LANE = laneOf(aJobSpec());

test('GUA-13 who listens hears of work that another process has started, without a poll', async () => {
  const { rig, hearer } = await twoConnections();
  const heard = new Promise<readonly string[]>((resolve) => {
    onTestFinished(hearer.listen(resolve));
  });
  await rig.create('job_elsewhere');
  expect(await heard).toEqual([LANE]);
});

test('what nobody takes is told of once, and what comes to another lane by itself', async () => {
  const { rig, hearer } = await twoConnections();
  const heard: string[] = [];
  let next: () => void = () => undefined;
  const hears = () => new Promise<void>((resolve) => (next = resolve));
  const stop = hearer.listen((lanes) => {
    heard.push(...lanes);
    next();
  });
  const first = hears();
  await rig.create('job_first_1');
  await first;
  await rig.create('job_first_2');
  const second = hears();
  await rig.create('job_other_1', { task: 'other' });
  await second;
  expect(heard).toEqual([LANE, laneOf(aJobSpec({ task: 'other' }))]);
  await stop();
  await rig.create('job_third_1', { task: 'third' });
  expect(heard).toHaveLength(2);
});

test('its own commits wake nobody but those that it names', async () => {
  const { rig } = await twoConnections();
  const heard: string[][] = [];
  const stop = rig.store.listen((lanes) => heard.push([...lanes]));
  await rig.create('job_own_1');
  await rig.create('job_own_2');
  rig.store.wake(['mine']);
  await stop();
  expect(heard).toEqual([['mine']]);
});
