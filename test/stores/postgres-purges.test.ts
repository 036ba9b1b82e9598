import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { CommitItem } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { command, Rig, T0 } from '../../src/testkit/index.js';
import { ask, startPostgres, waitsForLock, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const JOBS = ['job_far_1', 'job_far_2', 'job_far_3'];
const HOW_MANY = [1, 3];
const LATER = T0 + 60_000;

/** A worker with some jobs in hand. */
async function aWorker() {
  const url = await server.borrowDatabase();
  onTestFinished(() => server.returnDatabase(url));
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  onTestFinished(() => rig.stop());
  for (const jobId of JOBS) await rig.create(jobId);
  await rig.create('job_over', { scheduledAt: LATER, scheduleType: 'at' });
  const { jobs } = await rig.claim('worker-a');
  const heldBy = new Map(jobs.map(({ spec, attemptId }) => [spec.jobId, attemptId ?? '']));
  /** What it is about to record, of so many jobs. */
  const records = (most: number, step = 'first'): Promise<CommitItem[]> => {
    const record = (jobId: string) => ({
      ...command('record-step'),
      step,
      attemptId: heldBy.get(jobId) ?? '',
    });
    return Promise.all(JOBS.slice(0, most).map((jobId) => rig.prepare(jobId, record(jobId))));
  };
  /** What ends them, behind a record. */
  const ends = async (most: number): Promise<CommitItem[]> => {
    expect(await save(await records(most))).toEqual(all(JOBS.slice(0, most), 'saved'));
    const end = (jobId: string) =>
      rig.prepare(jobId, { ...command('complete'), attemptId: heldBy.get(jobId) ?? '' });
    return Promise.all(JOBS.slice(0, most).map(end));
  };
  const save = async (items: readonly CommitItem[]): Promise<string[]> =>
    (await rig.store.commit(items)).replies.map((reply) => (reply.ok ? 'saved' : reply.code));
  return { url, rig, records, ends, save };
}

/** Another process ends a job, and deletes it. */
async function purgeElsewhere(rig: Rig, jobId: string): Promise<void> {
  const other = await rig.connect();
  await other.commit([await rig.prepare(jobId, command('cancel'))]);
  expect((await other.purge({ jobs: [{ jobId, guard: null }], identityTtlMs: 0 })).jobs).toBe(1);
}

/** Makes away with what these follow, as a server has lost it that takes the place of another. */
async function loseWhatIsBefore(url: string, items: readonly CommitItem[]): Promise<void> {
  for (const { jobId, rev } of items)
    await ask(url, `DELETE FROM pawl.log WHERE job_id = '${jobId}' AND rev = ${rev - 1}`);
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const all = (items: readonly unknown[], outcome: string): string[] => items.map(() => outcome);

test.each(HOW_MANY)('what the worker saved itself it does not look up, %i at a time', async (most) => {
  const { url, records, save } = await aWorker();
  for (const step of ['first', 'second', 'third']) {
    const items = await records(most, step);
    if (step === 'third') await loseWhatIsBefore(url, items);
    expect(await save(items)).toEqual(all(items, 'saved'));
  }
});

test.each(HOW_MANY)('G6 after a purge it looks, %i at a time', async (most) => {
  const { url, rig, records, save } = await aWorker();
  const items = await records(most);
  await purgeElsewhere(rig, 'job_over');
  await loseWhatIsBefore(url, items);
  expect(await save(items)).toEqual(all(items, 'REV_TAKEN'));
});

test.each(HOW_MANY)('after a purge it looks once and no more, %i at a time', async (most) => {
  const { url, rig, records, save } = await aWorker();
  await purgeElsewhere(rig, 'job_over');
  const first = await records(most, 'first');
  expect(await save(first)).toEqual(all(first, 'saved'));
  const second = await records(most, 'second');
  await loseWhatIsBefore(url, second);
  expect(await save(second)).toEqual(all(second, 'saved'));
});

test.for(HOW_MANY)('G6 once a server was started anew it looks, %i at a time', async (most, { skip }) => {
  const { power } = server;
  if (power === null) return skip('the server is not ours to stop');
  const { url, records, save } = await aWorker();
  const items = await records(most);
  await loseWhatIsBefore(url, items);
  await power.off();
  await power.on();
  expect(await save(items)).toEqual(all(items, 'REV_TAKEN'));
});

test.each(HOW_MANY)('G6 once a backup was restored it looks, %i at a time', async (most) => {
  const { url, records, save } = await aWorker();
  const items = await records(most);
  await ask(url, 'TRUNCATE pawl.log');
  expect(await save(items)).toEqual(all(items, 'REV_TAKEN'));
});

test.each(HOW_MANY)('G6 of a job that was purged nothing more is recorded, %i at a time', async (most) => {
  const { rig, records, save } = await aWorker();
  const items = await records(most);
  await purgeElsewhere(rig, 'job_far_1');
  expect(await save(items)).toEqual(['REV_TAKEN', 'saved', 'saved'].slice(0, most));
  expect((await rig.store.log('job_far_1', { fromRev: 1, limit: 10 })).rows).toEqual([]);
  expect((await rig.store.strays({ after: null, limit: 10 })).strays).toEqual([]);
});

test.each(HOW_MANY)(
  'G6 what comes while a purge ends waits for it, and sees it, %i at a time',
  async (most) => {
    const { url, records, save } = await aWorker();
    const items = await records(most);
    const purge = await connected(url);
    await purge.query(`BEGIN; DELETE FROM pawl.log WHERE job_id = 'job_far_1'; DELETE FROM pawl.jobs WHERE job_id = 'job_far_1';
    LOCK TABLE pawl.purges IN EXCLUSIVE MODE; INSERT INTO pawl.purges (number) VALUES (1)`);
    const saving = save(items);
    await waitsForLock(url);
    await purge.query('COMMIT');
    expect(await saving).toEqual(['REV_TAKEN', 'saved', 'saved'].slice(0, most));
  },
);

/** Nothing is recorded before a purge waits for the end of it. */
const HELD_UP = `CREATE FUNCTION pawl.held_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  FOR tries IN 1..2000 LOOP
    IF EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'pawl.purges'::regclass AND NOT granted) THEN RETURN new; END IF;
    PERFORM pg_sleep(0.01);
  END LOOP;
  RAISE 'no purge has waited'; END $$;
  CREATE TRIGGER held_up BEFORE INSERT ON pawl.log FOR EACH ROW EXECUTE FUNCTION pawl.held_up()`;

test.each(HOW_MANY)('G6 a purge does not end before what has come, %i at a time', async (most) => {
  const { url, rig, records, save } = await aWorker();
  await rig.give('job_over', command('cancel'));
  const items = await records(most);
  await ask(url, HELD_UP);
  onTestFinished(async () => void (await ask(url, 'DROP FUNCTION pawl.held_up CASCADE')));
  const saving = save(items);
  const sleeping =
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
  await expect.poll(() => ask(url, sleeping)).toHaveLength(1);
  const purging = rig.store.purge({ jobs: [{ jobId: 'job_over', guard: null }], identityTtlMs: 0 });
  expect([await saving, (await purging).jobs]).toEqual([all(items, 'saved'), 1]);
});

test.each(HOW_MANY)('an end looks nothing up that the worker saved itself, %i at a time', async (most) => {
  const { url, rig, ends, save } = await aWorker();
  const items = await ends(most);
  await purgeElsewhere(rig, 'job_over');
  await loseWhatIsBefore(url, items);
  expect(await save(items)).toEqual(all(items, 'saved'));
});

test.each(HOW_MANY)('G6 once a backup was restored an end looks, %i at a time', async (most) => {
  const { url, ends, save } = await aWorker();
  const items = await ends(most);
  await ask(url, 'TRUNCATE pawl.log');
  expect(await save(items)).toEqual(all(items, 'REV_TAKEN'));
});

test.for(HOW_MANY)('G6 once a server was started anew an end looks, %i at a time', async (most, { skip }) => {
  const { power } = server;
  if (power === null) return skip('the server is not ours to stop');
  const { url, ends, save } = await aWorker();
  const items = await ends(most);
  await loseWhatIsBefore(url, items);
  await power.off();
  await power.on();
  expect(await save(items)).toEqual(all(items, 'REV_TAKEN'));
});

test.each(HOW_MANY)('G6 of a job that was purged no end is saved, %i at a time', async (most) => {
  const { rig, ends, save } = await aWorker();
  const items = await ends(most);
  await purgeElsewhere(rig, 'job_far_1');
  expect(await save(items)).toEqual(['REV_TAKEN', 'saved', 'saved'].slice(0, most));
  expect((await rig.store.strays({ after: null, limit: 10 })).strays).toEqual([]);
});
