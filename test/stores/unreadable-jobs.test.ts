import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { verifyStore } from '../../src/engine/evidence/verify-store.js';
import { task } from '../../src/index.js';
import { command, fakeClock, Rig, T0, testApp, type OpenStore } from '../../src/testkit/index.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';
import { storeFolder } from '../store-folder.js';

const folder = storeFolder('pawl-unreadable-');
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

/** `write`: puts a text into the row of a job, where its state belongs. `clear`: deletes the log of a job, as far as it is apart from the row. */
type Data = {
  readonly open: OpenStore;
  readonly write: (jobId: string, state: string) => Promise<unknown>;
  readonly clear: (jobId: string) => Promise<unknown>;
};

let files = 0;
function sqliteData(): Data {
  const path = join(folder, `${files++}.db`);
  return {
    open: ({ clock }) => sqliteStore({ path, clock }),
    async write(jobId, state) {
      const db = await openDatabase(path);
      db.prepare('UPDATE jobs SET state = ? WHERE job_id = ?').run(state, jobId);
      db.close();
    },
    async clear(jobId) {
      const db = await openDatabase(path);
      db.prepare('DELETE FROM log WHERE job = (SELECT id FROM jobs WHERE job_id = ?)').run(jobId);
      db.close();
    },
  };
}

async function postgresData(): Promise<Data> {
  const url = await server.createDatabase();
  return {
    open: ({ clock }) => postgresStore({ url, clock, now: () => clock.now() }),
    write: (jobId, state) => ask(url, `UPDATE pawl.jobs SET state = '${state}' WHERE job_id = '${jobId}'`),
    clear: (jobId) => ask(url, `DELETE FROM pawl.log WHERE job_id = '${jobId}'`),
  };
}

const unreadable = (jobId: string) => ({
  code: 'EVENT_UNREADABLE',
  message: expect.stringContaining(jobId) as string,
  details: { jobId },
});

describe.each([
  ['SQLite', async () => sqliteData()],
  ['Postgres', postgresData],
] as const)('a job that cannot be read, on %s,', (_, make) => {
  async function ground() {
    const { open, write, clear } = await make();
    const rig = await Rig.start(open);
    onTestFinished(() => rig.stop());
    const claimed = async (limit: number) =>
      (await rig.claim('worker-a', { limit })).jobs.map(({ spec }) => spec.jobId);
    const spoil = (jobId: string) => write(jobId, 'x');
    return { rig, claimed, spoil, clear, repair: (jobId: string) => write(jobId, '{}') };
  }

  test('is left alone: others are claimed, it is told of once, and tried again later', async () => {
    const { rig, claimed, spoil, repair } = await ground();
    for (const jobId of ['job_sick_1', 'job_sick_2', 'job_sick_3', 'job_sick_4', 'job_sick_5'])
      await rig.create(jobId);
    for (const jobId of ['job_sick_1', 'job_sick_2', 'job_sick_4']) await spoil(jobId);
    // All that the first two looks find cannot be read.
    expect(await claimed(1)).toEqual(['job_sick_3']);
    // Both at once: else as many claims would come to nothing as there are such jobs.
    await expect(claimed(1)).rejects.toMatchObject({
      code: 'EVENT_UNREADABLE',
      details: { jobId: 'job_sick_1' },
      message: expect.stringContaining(
        '2 jobs cannot be read, and are left alone, also job_sick_2',
      ) as string,
    });
    expect(await claimed(5)).toEqual(['job_sick_5']);
    await expect(claimed(5)).rejects.toMatchObject(unreadable('job_sick_4'));
    expect(await claimed(5)).toEqual([]);
    await repair('job_sick_2');
    rig.clock.advance(60_000);
    expect([...(await claimed(5)), ...(await claimed(5))]).toEqual(['job_sick_2']);
    rig.clock.advance(60_000);
    expect(await claimed(5)).toEqual([]);
  });

  test('is told of in the log of a worker, which runs the others', async () => {
    const { open, write } = await make();
    const clock = fakeClock(T0);
    const store = await open({ clock, name: 'main' });
    const work = task({ name: 'work' }, () => 'done');
    const { app: starter } = await testApp({
      store: { ...store, close: async () => {} },
      clock,
      work: false,
    });
    const jobs = [await starter.start(work, 1), await starter.start(work, 2), await starter.start(work, 3)];
    const [first, ...others] = jobs.map(({ job }) => job);
    await write(first?.id ?? '', 'x');
    const errors: unknown[] = [];
    const none = () => undefined;
    // A minute goes by while Postgres answers a heartbeat, which is an outage by this clock.
    const error = (message: string, about?: object): void => {
      if (message !== 'the store cannot be used') errors.push([message, about]);
    };
    const { app } = await testApp({
      store,
      clock,
      tasks: [work],
      log: { debug: none, info: none, warn: none, error },
    });
    onTestFinished(() => app.close());
    const after = async <T>(look: () => T | Promise<T>) => {
      clock.advance(60_000);
      return look();
    };
    for (const { id } of others) {
      const statusOf = async () => (await store.load(id)).found?.job.status;
      await expect.poll(() => after(statusOf)).toBe('succeeded');
    }
    const told = { error: expect.objectContaining(unreadable(first?.id ?? '')) as Error };
    await expect.poll(() => after(() => errors)).toEqual([[expect.stringContaining('failed'), told]]);
  });

  test('is in nobody’s way in a crowd, whoever its tenant is', async () => {
    const { rig, claimed, spoil } = await ground();
    const ids = Array.from({ length: 60 }, (_unused, n) => `job_crowd_${10 + n}`);
    for (const [n, jobId] of ids.entries()) await rig.create(jobId, { tenantId: n % 2 === 0 ? 'a' : 'b' });
    const spoilt = new Set(['job_crowd_10', 'job_crowd_11', 'job_crowd_12', 'job_crowd_13', 'job_crowd_40']);
    for (const jobId of spoilt) await spoil(jobId);
    const all: string[] = [];
    for (let claims = 0; claims < 20; claims++) all.push(...(await claimed(6).catch(() => [])));
    expect(all.toSorted()).toEqual(ids.filter((jobId) => !spoilt.has(jobId)));
  });

  test('GUA-14 because its log was deleted, is broken: it is not passed over as one that is not there', async () => {
    const { rig, clear } = await ground();
    for (const jobId of ['job_well_1', 'job_sick_2', 'job_well_3']) await rig.running(jobId);
    expect(await verifyStore(rig.store)).toMatchObject({ holds: true, jobs: 3 });
    await clear('job_sick_2');
    await expect(rig.store.load('job_sick_2')).rejects.toThrow(/EVENT_UNREADABLE at job_sick_2/);
    expect(await verifyStore(rig.store)).toMatchObject({
      holds: false,
      jobs: 3,
      brokenJobs: 1,
      broken: [{ jobId: 'job_sick_2', problem: expect.stringContaining('it cannot be read') as string }],
    });
  });

  test('GUA-10 does not keep jobs of workers that are gone from being found', async () => {
    const { rig, spoil } = await ground();
    for (const jobId of ['job_sick_1', 'job_sick_2', 'job_sick_3']) await rig.running(jobId);
    await spoil('job_sick_2');
    rig.clock.advance(30_000);
    const orphans = async (limit: number) =>
      (await rig.store.orphans({ limit })).jobs.map(({ job }) => job.spec.jobId);
    expect(await orphans(10)).toEqual(['job_sick_1', 'job_sick_3']);
    await expect(orphans(10)).rejects.toMatchObject(unreadable('job_sick_2'));
    for (const jobId of ['job_sick_1', 'job_sick_3']) {
      const { job } = await rig.load(jobId);
      await rig.give(jobId, command('interrupt', { attemptId: job.attemptId ?? '' }));
    }
    expect(await orphans(1)).toEqual([]);
  });
});
