import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync, utimesSync, watch } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { laneOf, type JobSpec } from '../../src/kernel/index.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { aJobSpec, Rig } from '../../src/testkit/index.js';
import { storeFolder } from '../store-folder.js';

/** Two connections to one file, as two processes would have. */
async function twoConnections() {
  const folder = storeFolder('pawl-wake-');
  const path = join(folder, 'pawl.db');
  const rig = await Rig.start(({ clock }) => sqliteStore({ path, clock }));
  onTestFinished(async () => {
    await rig.stop();
    rmSync(folder, { recursive: true });
  });
  return { rig, hearer: await rig.connect(), path, shared: `${path}-shm` };
}

const LANE = laneOf(aJobSpec());

/** Starts a job as the engine does, which tells those that wait for its lane. Some time after the last one. */
async function start(rig: Rig, jobId: string, spec: Partial<JobSpec> = {}): Promise<void> {
  await rig.create(jobId, spec);
  rig.clock.advance(5);
  rig.store.wake([laneOf(aJobSpec(spec))]);
}

test('GUA-13 who listens hears of work that another process has started, without a poll', async () => {
  const { rig, hearer } = await twoConnections();
  const heard = new Promise<readonly string[]>((resolve) => {
    onTestFinished(hearer.listen(resolve));
  });
  await start(rig, 'job_elsewhere');
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
  await start(rig, 'job_first_1');
  await first;
  await start(rig, 'job_first_2');
  const second = hears();
  await start(rig, 'job_other_1', { task: 'other' });
  await second;
  expect(heard).toEqual([LANE, laneOf(aJobSpec({ task: 'other' }))]);
  await stop();
  await start(rig, 'job_third_1', { task: 'third' });
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
  const { rig, shared } = await twoConnections();
  await rig.create('job_touched_1');
  const age = () => utimesSync(shared, 1, 1);
  const isTouched = () => statSync(shared).mtimeMs > 1_000;
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

test('GUA-13 what is still to be told of is told when a process ends', async () => {
  const { rig, hearer, path } = await twoConnections();
  const teller = await sqliteStore({ path, clock: rig.clock });
  teller.wake([LANE]);
  teller.wake([LANE]);
  const heard = new Promise<readonly string[]>((resolve) => {
    onTestFinished(hearer.listen(resolve));
  });
  await rig.create('job_told');
  await teller.close();
  expect(await heard).toEqual([LANE]);
});

test('its own commits are not heard of, which would cost more than the smallest of them', async () => {
  const { rig, shared } = await twoConnections();
  const heard = vi.fn<() => void>();
  const watcher = watch(shared, heard);
  onTestFinished(() => watcher.close());
  for (let n = 0; n < 20; n++) await rig.create(`job_unheard_${n}`);
  const told = new Promise((resolve) => watcher.once('change', resolve));
  rig.store.wake([LANE]);
  await told;
  expect(heard).toHaveBeenCalledTimes(1);
});

test('GUA-13 of many that are told of in a row none is missed', async () => {
  const { rig, hearer } = await twoConnections();
  const ids = Array.from({ length: 30 }, (_, n) => `lane_${n}`);
  const lanes = new Set(ids.map((task) => laneOf(aJobSpec({ task }))));
  const all = new Promise<void>((resolve) => {
    onTestFinished(
      hearer.listen((heard) => {
        for (const lane of heard) lanes.delete(lane);
        if (lanes.size === 0) resolve();
      }),
    );
  });
  for (const task of ids) await start(rig, `job_${task}`, { task });
  await all;
});

/** Makes one job after the other the only one that is ready, whenever it is told to, with SQL of its own; and tells of it. */
const ELSEWHERE = `
const { utimesSync } = require('node:fs');
const { DatabaseSync } = require('@photostructure/sqlite');
const db = new DatabaseSync(process.argv[1]);
db.exec('PRAGMA busy_timeout = 5000; PRAGMA synchronous = FULL');
process.on('message', (jobId) => {
  if (jobId === null) return process.disconnect();
  db.exec("BEGIN IMMEDIATE; UPDATE jobs SET ready = (job_id = '" + jobId + "'); COMMIT");
  utimesSync(process.argv[1] + '-shm', new Date(), new Date());
});`;

test('GUA-13 each commit of another process that is told of is found, at the first look', async () => {
  const { rig, hearer, path } = await twoConnections();
  const ids = Array.from({ length: 30 }, (_, n) => `job_elsewhere_${n}`);
  for (const jobId of ids) await rig.create(jobId, { scheduledAt: rig.clock.now() + 3_600_000 });
  const other = spawn(process.execPath, ['-e', ELSEWHERE, path], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let next: () => void = () => undefined;
  onTestFinished(hearer.listen(() => next()));
  onTestFinished(async () => {
    const exited = once(other, 'exit');
    other.send(null as never);
    await exited;
  });
  for (const jobId of ids) {
    const heard = new Promise<void>((resolve) => (next = resolve));
    other.send(jobId);
    await heard;
  }
});
