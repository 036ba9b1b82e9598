import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { QuietCheckpoints } from '../../src/stores/sqlite/quiet-checkpoints.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { fakeClock, Rig } from '../../src/testkit/index.js';
import { storeFolder } from '../store-folder.js';

/** A store on a file, and how many pages of its log have not been moved into the database. */
async function aStore() {
  const folder = storeFolder('pawl-checkpoints-');
  const path = join(folder, 'pawl.db');
  const rig = await Rig.start(({ clock }) => sqliteStore({ path, clock }));
  const beside = await openDatabase(path);
  onTestFinished(async () => {
    beside.close();
    await rig.stop();
    rmSync(folder, { recursive: true });
  });
  const look = beside.prepare('PRAGMA wal_checkpoint(NOOP)');
  const pagesLeft = (): number => {
    const { log, checkpointed } = look.get() ?? {};
    return Number(log) - Number(checkpointed);
  };
  let created = 0;
  const create = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await rig.create(`job_kept_${(created += 1)}`);
  };
  return { rig, create, pagesLeft };
}

/** From the last commit on. */
const QUIET_MS = 10;

/** More than are moved in a quiet moment, and less than SQLite moves by itself. */
const MANY = 100;

test('what single commits leave in the log is moved before one of them has to, once nothing has been saved for a moment', async () => {
  const { rig, create, pagesLeft } = await aStore();
  await create(MANY);
  expect(pagesLeft()).toBeGreaterThanOrEqual(500);
  rig.clock.advance(QUIET_MS);
  expect(pagesLeft()).toBe(0);
  await create(MANY);
  expect(pagesLeft()).toBeGreaterThanOrEqual(500);
  rig.clock.advance(QUIET_MS);
  expect(pagesLeft()).toBe(0);
});

test('while commits follow each other nothing is moved but by them', async () => {
  const { rig, create, pagesLeft } = await aStore();
  await create(MANY);
  const left = pagesLeft();
  for (let n = 0; n < 10; n++) {
    rig.clock.advance(4);
    await create(1);
  }
  expect(pagesLeft()).toBeGreaterThan(left);
  rig.clock.advance(QUIET_MS);
  expect(pagesLeft()).toBe(0);
});

test('a little stays where it is', async () => {
  const { rig, create, pagesLeft } = await aStore();
  await create(30);
  const left = pagesLeft();
  rig.clock.advance(60_000);
  expect(pagesLeft()).toBe(left);
});

/** Commits as many as are worth a look. */
function commitSome(checkpoints: QuietCheckpoints): void {
  for (let n = 0; n < 20; n++) checkpoints.committed();
}

test('a database that fails is left to the next commit, and looked at again behind more of them', () => {
  const clock = fakeClock(0);
  const get = vi.fn<() => never>(() => {
    throw new Error('disk I/O error');
  });
  const checkpoints = new QuietCheckpoints({ get }, clock);
  commitSome(checkpoints);
  clock.advance(60_000);
  expect(get).toHaveBeenCalledTimes(1);
  commitSome(checkpoints);
  clock.advance(QUIET_MS);
  expect(get).toHaveBeenCalledTimes(2);
});

test('a store that is closed is not looked at any more', () => {
  const clock = fakeClock(0);
  const get = vi.fn<() => undefined>();
  const checkpoints = new QuietCheckpoints({ get }, clock);
  commitSome(checkpoints);
  checkpoints.stop();
  clock.advance(60_000);
  expect(get).not.toHaveBeenCalled();
});
