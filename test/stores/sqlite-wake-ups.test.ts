import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/client/system-clock.js';
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
  return { rig, hearer: await rig.connect(), log: join(folder, 'pawl.db-wal') };
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

test('GUA-13 what is saved for others is told of once it counts: at once, and then at most every five milliseconds', async () => {
  const { rig, log } = await twoConnections();
  await rig.create('job_touched_1');
  const age = () => utimesSync(log, 1, 1);
  const isTouched = () => statSync(log).mtimeMs > 1_000;
  age();
  rig.store.wake([LANE]);
  expect(isTouched()).toBe(true);
  age();
  rig.store.wake([LANE]);
  rig.store.wake([LANE]);
  expect(isTouched()).toBe(false);
  rig.clock.advance(5);
  expect(isTouched()).toBe(true);
  age();
  rig.clock.advance(5);
  expect(isTouched()).toBe(false);
  rig.store.wake([LANE]);
  expect(isTouched()).toBe(true);
});

/** Makes one job after the other the only one that is ready, whenever it is told to, with SQL of its own. */
const ELSEWHERE = `
const { DatabaseSync } = require('@photostructure/sqlite');
const db = new DatabaseSync(process.argv[1]);
db.exec('PRAGMA busy_timeout = 5000; PRAGMA synchronous = FULL');
process.on('message', (jobId) => {
  if (jobId === null) return process.disconnect();
  db.exec("BEGIN IMMEDIATE; UPDATE jobs SET ready = (job_id = '" + jobId + "'); COMMIT");
});`;

test('GUA-13 a commit of another process is heard of, although it is written before it counts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-wake-'));
  const path = join(folder, 'pawl.db');
  const rig = await Rig.start(() => sqliteStore({ path, clock: systemClock }));
  const ids = Array.from({ length: 30 }, (_, n) => `job_elsewhere_${n}`);
  for (const jobId of ids) await rig.create(jobId, { scheduledAt: systemClock.now() + 3_600_000 });
  const other = spawn(process.execPath, ['-e', ELSEWHERE, path], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let next: () => void = () => undefined;
  const stop = rig.store.listen(() => next());
  onTestFinished(async () => {
    const exited = once(other, 'exit');
    other.send(null as never);
    await exited;
    await stop();
    await rig.stop();
    rmSync(folder, { recursive: true });
  });
  for (const jobId of ids) {
    const heard = new Promise<void>((resolve) => (next = resolve));
    other.send(jobId);
    await heard;
  }
});
