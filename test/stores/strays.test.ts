import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { verifyStore } from '../../src/engine/evidence/verify-store.js';
import type { Store } from '../../src/ports/store.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { Tables } from '../../src/stores/memory/tables.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { command, Rig, type OpenStore } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';
import { storeFolder } from '../store-folder.js';

const folder = storeFolder('pawl-strays-');
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

/** `forget`: deletes the rows of these jobs, and nothing else. `tamper`: changes the tables as one likes. */
type Data = {
  readonly open: OpenStore;
  readonly forget: (jobIds: readonly string[]) => Promise<unknown>;
  readonly tamper: (sql: string) => Promise<unknown>;
};

const quoted = (jobIds: readonly string[]): string => jobIds.map((id) => `'${id}'`).join();

let files = 0;
const DATA = {
  async memory(): Promise<Data> {
    const tables = new Tables();
    return {
      open: async ({ clock }) => memoryStore({ clock, tables }),
      forget: async (jobIds) => jobIds.map((id) => tables.jobs.delete(id)),
      tamper: () => Promise.reject(new Error('memory has no SQL')),
    };
  },
  async SQLite(): Promise<Data> {
    const path = join(folder, `${files++}.db`);
    const tamper = async (sql: string): Promise<void> => {
      const db = await openDatabase(path);
      db.exec(sql);
      db.close();
    };
    return {
      open: ({ clock }) => sqliteStore({ path, clock }),
      forget: (jobIds) => tamper(`DELETE FROM jobs WHERE job_id IN (${quoted(jobIds)})`),
      tamper,
    };
  },
  async Postgres(): Promise<Data> {
    const url = await server.createDatabase();
    return {
      open: ({ clock }) => postgresStore({ url, clock, now: () => clock.now() }),
      forget: (jobIds) => ask(url, `DELETE FROM pawl.jobs WHERE job_id IN (${quoted(jobIds)})`),
      tamper: (sql) => ask(url, sql),
    };
  },
} as const;

async function ground(name: keyof typeof DATA) {
  const data = await DATA[name]();
  const rig = await Rig.start(data.open);
  onTestFinished(() => rig.stop());
  const ended = async (jobId: string): Promise<void> => {
    await rig.create(jobId);
    await rig.give(jobId, command('cancel'));
  };
  return { ...data, rig, ended };
}

/** All of them, and how many pages it took. */
async function allStrays(store: Store, limit: number) {
  const found: unknown[] = [];
  let pages = 0;
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<Store['strays']>> = await store.strays({ after, limit });
    found.push(...page.strays);
    pages += 1;
    after = page.next;
  } while (after !== null);
  return { found, pages };
}

async function purge(store: Store, jobIds: readonly string[]): Promise<number> {
  const jobs = jobIds.map((jobId) => ({ jobId, guard: null }));
  return (await store.purge({ jobs, identityTtlMs: 1 })).jobs;
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => `job_${1000 + n}`);
const names = Object.keys(DATA) as (keyof typeof DATA)[];

describe.each(names)('a job whose row alone was deleted, on %s,', (name) => {
  test('GUA-14 is broken, and is counted with the others, which hold', async () => {
    const { rig, ended, forget } = await ground(name);
    for (const jobId of ['job_well_1', 'job_gone_1', 'job_well_2']) await ended(jobId);
    expect(await verifyStore(rig.store)).toMatchObject({ holds: true, jobs: 3 });

    await forget(['job_gone_1']);
    const left = name === 'Postgres' ? 'revision 2 of its log is' : 'revisions 1 to 2 of its log are';
    expect(await verifyStore(rig.store)).toMatchObject({
      holds: false,
      jobs: 3,
      commits: 4,
      brokenJobs: 1,
      broken: [
        { jobId: 'job_gone_1', holds: false, problem: `its row is gone; ${left} still there`, commits: 0 },
      ],
    });
  });

  test('GUA-14 is found also if it was only created, whose one revision Postgres keeps in the row', async () => {
    const { rig, forget } = await ground(name);
    await rig.create('job_well_1');
    await rig.create('job_gone_1');
    await forget(['job_gone_1']);
    const { holds, broken } = await verifyStore(rig.store);
    expect(holds).toBe(false);
    const problem =
      name === 'Postgres'
        ? 'its row is gone, and its log with it; that it was created is still noted'
        : 'its row is gone; revision 1 of its log is still there';
    expect(broken).toMatchObject([{ jobId: 'job_gone_1', problem }]);
  });

  test('GUA-14 is found on every page, once, whatever its log is', async () => {
    const { rig, ended, forget } = await ground(name);
    const jobIds = ids(23);
    for (const [n, jobId] of jobIds.entries()) await (n % 2 === 0 ? ended(jobId) : rig.create(jobId));
    const gone = jobIds.filter((_, n) => n % 5 < 2 || n === 22);
    await forget(gone);
    for (const limit of [1, 2, 5, 1_000]) {
      const { found, pages } = await allStrays(rig.store, limit);
      expect(found.map((one) => (one as { jobId: string }).jobId).toSorted()).toEqual(gone);
      expect(pages).toBeGreaterThanOrEqual(gone.length / limit);
    }
  });

  test('GUA-14 is nobody’s in particular: one tenant is checked without it', async () => {
    const { rig, forget } = await ground(name);
    await rig.create('job_gone_1');
    await forget(['job_gone_1']);
    expect(await verifyStore(rig.store, { tenantId: 'acme' })).toMatchObject({ holds: true, jobs: 0 });
    expect(await verifyStore(rig.store)).toMatchObject({ holds: false, jobs: 1, brokenJobs: 1 });
  });
});

describe.each(names)('a job that was purged, on %s,', (name) => {
  test('GUA-14 leaves nothing that would be told, nor does one that is purged meanwhile', async () => {
    const { rig, ended } = await ground(name);
    const jobIds = ids(40);
    for (const jobId of jobIds) await ended(jobId);
    const other = await rig.connect();
    const state = { left: jobIds.length, isPurging: true };
    const purging = (async () => {
      for (let n = 0; n < jobIds.length; n += 2) state.left -= await purge(other, jobIds.slice(n, n + 2));
    })().finally(() => void (state.isPurging = false));
    while (state.isPurging) expect((await allStrays(rig.store, 7)).found).toEqual([]);
    await purging;
    expect(state.left).toBe(0);
    expect(await verifyStore(rig.store)).toMatchObject({ holds: true, jobs: 0 });
  });
});

test('GUA-14 a log on SQLite that has lost its first row, too, is told by its place', async () => {
  const { rig, ended, forget, tamper } = await ground('SQLite');
  await ended('job_well_1');
  await ended('job_gone_1');
  await forget(['job_gone_1']);
  await tamper('DELETE FROM log WHERE job = 2 AND rev = 1');
  expect((await allStrays(rig.store, 10)).found).toEqual([
    { jobId: 'log.job=2', revs: { first: 2, last: 2 } },
  ]);
  await tamper("UPDATE log SET rev = 1, body = '{' WHERE job = 2");
  expect((await allStrays(rig.store, 10)).found).toEqual([
    { jobId: 'log.job=2', revs: { first: 1, last: 1 } },
  ]);
});

test('GUA-14 what a purge on SQLite leaves as a mark is no log', async () => {
  const { rig, ended } = await ground('SQLite');
  await ended('job_gone_1');
  await purge(rig.store, ['job_gone_1']);
  expect((await rig.store.feedEnd()).position).not.toBe('0');
  expect((await allStrays(rig.store, 1)).found).toEqual([]);
});

test('GUA-14 the log that the newest job on SQLite has left stands in the way of no start', async () => {
  const { rig, ended, forget } = await ground('SQLite');
  await ended('job_well_1');
  await ended('job_gone_1');
  await forget(['job_gone_1']);
  await rig.create('job_new_1');
  const items = await Promise.all(
    ['job_new_2', 'job_new_3'].map((jobId) => rig.prepare(jobId, rig.createCommand(jobId))),
  );
  expect((await rig.store.commit(items)).replies).toMatchObject([{ ok: true }, { ok: true }]);
  const { jobs, broken } = await verifyStore(rig.store);
  expect([jobs, broken.map(({ jobId }) => jobId)]).toEqual([5, ['job_gone_1']]);
});
