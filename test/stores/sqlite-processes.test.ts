import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { load } from '../../src/stores/sqlite/load.js';
import { Session } from '../../src/stores/sqlite/session.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { aFatalFailure, command } from '../../src/testkit/sample-commands.js';
import { Rig } from '../../src/testkit/index.js';
import { storeFolder } from '../store-folder.js';

/** A store on a file that others may open as well. */
async function ground() {
  const folder = storeFolder('pawl-processes-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const rig = await Rig.start(({ clock, name }) => sqliteStore({ path: join(folder, `${name}.db`), clock }));
  onTestFinished(() => rig.stop());
  return { rig, path: join(folder, 'main.db') };
}

test('GUA-2 GUA-11 a job that another process dead-lettered first: its own end is refused, and what goes with it is saved', async () => {
  const { rig } = await ground();
  const elsewhere = await rig.connect();
  const { attemptId } = await rig.running('job_poison');
  const failing = command('fail-attempt', { attemptId: attemptId ?? '', failure: aFatalFailure });
  const mine = await rig.prepare('job_poison', failing, { attemptId });
  const theirs = { ...mine, commandId: 'other', attemptId: null };
  expect((await elsewhere.commit([theirs])).replies).toEqual([{ ok: true, repeated: false }]);
  const other = await rig.prepare('job_innocent', rig.createCommand('job_innocent'));
  const answers = await Promise.all([rig.store.commit([mine]), rig.store.commit([other])]);
  expect(answers.map(({ replies }) => replies[0])).toEqual([
    { ok: false, code: 'REV_TAKEN' },
    { ok: true, repeated: false },
  ]);
});

test('a job that another process purges while it is being read is not found', async () => {
  const { rig, path } = await ground();
  await rig.create('job_gone');
  const purging = await openDatabase(path);
  const db = new Session(await openDatabase(path), rig.clock);
  const read = db.all.bind(db);
  db.all = (...asked: Parameters<typeof read>) => {
    purging.exec('BEGIN IMMEDIATE; DELETE FROM log; DELETE FROM jobs; COMMIT');
    return read(...asked);
  };
  expect(load(db, 'job_gone')).toBeNull();
  await db.close();
  purging.close();
});

test('large jobs that are started together are saved some megabytes at a time, and the event loop goes on between', async () => {
  const { rig } = await ground();
  const input = JSON.stringify('x'.repeat(1_000_000));
  const ids = Array.from({ length: 12 }, (_, n) => `job_large_${n}`);
  const items = await Promise.all(
    ids.map((jobId) => rig.prepare(jobId, { ...rig.createCommand(jobId), input } as never)),
  );
  let saved = false;
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (!saved) setImmediate(count);
  };
  setImmediate(count);
  const { replies } = await rig.store.commit(items);
  saved = true;
  expect(replies.every(({ ok }) => ok)).toBe(true);
  expect(turns).toBeGreaterThanOrEqual(3);
});
