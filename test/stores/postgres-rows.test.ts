import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/client/open-store.js';
import { systemClock } from '../../src/client/system-clock.js';
import { pawl, task } from '../../src/index.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { command, Rig } from '../../src/testkit/index.js';
import { ask, startPostgres, waitsForLock, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

test('a job costs as many rows read as the first, although every statement was planned before there was one', async () => {
  const url = await server.createDatabase();
  const JOBS = 300;
  const job = task({ name: 'job' }, async ({ step }) => step.run('step', () => 1));
  const app = await pawl({ store: url, tasks: [job] });
  await app.work({ stopOnSignal: false });
  const store = await openStore(url, { clock: systemClock });
  for (let n = 0; n < JOBS; n++) {
    const after = (await store.feedEnd()).position;
    await (await app.start(job, n)).job.result();
    expect((await store.feed({ after, limit: 100 })).rows.length).toBeLessThan(20);
  }
  await store.close();
  await app.close();
  const perJob = async () => {
    const read = await ask<{ name: string; rows: number }>(
      url,
      `SELECT indexrelname AS name, idx_tup_read::int AS rows FROM pg_stat_user_indexes WHERE schemaname = 'pawl'
       UNION ALL SELECT relname, seq_tup_read::int FROM pg_stat_user_tables WHERE schemaname = 'pawl'`,
    );
    return Object.fromEntries(read.map(({ name, rows }) => [name, rows / JOBS]));
  };
  // Connections tell what they have read when they end.
  await expect
    .poll(perJob)
    .toMatchObject({ jobs_pkey: expect.toSatisfy((rows: number) => rows >= 2) as number });
  const read = await perJob();
  expect(Math.max(...Object.values(read)), JSON.stringify(read)).toBeLessThan(30);
});

test('who looks on goes by indexes, also on tables of which the server has not yet learned how they have grown', async () => {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const ids = Array.from({ length: 40 }, (_, n) => `job-number-${n}`);
  await rig.store.commit(await Promise.all(ids.map((id) => rig.prepare(id, rig.createCommand(id)))));
  for (const jobId of ids.slice(1)) await rig.give(jobId, command('cancel'));
  await rig.store.close();
  const readBy = async () => {
    const [read] = await ask<{ index: number; table: number }>(
      url,
      `SELECT (SELECT idx_scan::int FROM pg_stat_user_indexes WHERE indexrelname = 'jobs_held') AS index,
         (SELECT seq_scan::int FROM pg_stat_user_tables WHERE relname = 'jobs') AS table`,
    );
    return read;
  };
  const before = await expect.poll(gone(url)).toBe(true).then(readBy);

  const store = await postgresStore({ url, clock: systemClock });
  const all = { tenantId: null, statuses: null, task: null, limit: 10, cursor: null };
  expect((await store.counts({ tenantId: null })).counts).toEqual({ queued: 1, cancelled: 39 });
  expect((await store.liveCounts()).counts).toMatchObject([{ status: 'queued', count: 1 }]);
  for (const status of ['queued', 'cancelled', 'waiting'] as const)
    await store.list({ ...all, statuses: [status] });
  expect((await store.list(all)).rows).toHaveLength(10);
  await store.close();

  await expect.poll(gone(url)).toBe(true);
  const after = await readBy();
  expect(after?.index).toBeGreaterThan(before?.index ?? 0);
  expect(after?.table).toBe(before?.table);
});

/** Connections tell what they have read when they end. */
const gone = (url: string) => async (): Promise<boolean> =>
  (
    await ask(
      url,
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pawl'`,
    )
  ).length === 0;

test('what lists the jobs that were created together goes with the last of them; an id that is used again is listed once', async () => {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const create = async (...jobIds: string[]) =>
    rig.store.commit(await Promise.all(jobIds.map((id) => rig.prepare(id, rig.createCommand(id)))));
  const purge = async (...jobIds: string[]) => {
    for (const jobId of jobIds) await rig.give(jobId, command('cancel'));
    const jobs = jobIds.map((jobId) => ({ jobId, guard: null }));
    return (await rig.store.purge({ jobs, identityTtlMs: 0 })).jobs;
  };
  const filter = { tenantId: null, statuses: null, task: null, limit: 10, cursor: null };
  const listed = async () => (await rig.store.list(filter)).rows.map(({ jobId }) => jobId);
  const fed = async () =>
    (await rig.store.feed({ after: null, limit: 10 })).rows.map(({ jobId, rev }) => `${jobId} ${rev}`);
  const kept = async () =>
    (await ask<{ job_ids: string[] }>(url, 'SELECT job_ids FROM pawl.created ORDER BY xid')).map(
      ({ job_ids }) => job_ids.length,
    );

  await create('job_made_a', 'job_made_b', 'job_made_c');
  expect(await kept()).toEqual([3]);
  expect(await purge('job_made_a', 'job_made_b')).toBe(2);
  await create('job_made_b');
  expect([await kept(), await listed(), await fed()]).toEqual([
    [1, 1],
    ['job_made_b', 'job_made_c'],
    ['job_made_c 1', 'job_made_b 1'],
  ]);
  expect(await purge('job_made_c')).toBe(1);
  expect([await kept(), await listed(), await fed()]).toEqual([[1], ['job_made_b'], ['job_made_b 1']]);
  await rig.stop();
});

test('jobs that are started within a transaction of the application are listed together, and page by page in one order', async () => {
  const url = await server.createDatabase();
  const job = task({ name: 'job' }, () => null);
  const app = await pawl({ store: url, tasks: [job] });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('BEGIN');
  for (const first of [0, 10]) {
    const inputs = Array.from({ length: 5 }, (_, n) => ({ input: first + n }));
    await app.startMany(job, inputs, { tx: client });
  }
  await client.query('COMMIT');
  const { rows } = await client.query<{ count: number }>(
    'SELECT cardinality(job_ids) AS count FROM pawl.created',
  );
  expect(rows).toEqual([{ count: 5 }, { count: 5 }]);
  await client.end();

  const store = await openStore(url, { clock: systemClock });
  const all = { tenantId: null, statuses: null, task: null };
  const listed: string[] = [];
  for (let cursor: string | null = null; ;) {
    const page = await store.list({ ...all, limit: 3, cursor });
    listed.push(...page.rows.map(({ jobId }) => jobId));
    cursor = page.next;
    if (cursor === null) break;
  }
  const fed: string[] = [];
  for (let after: string | null = null; ;) {
    const page = await store.feed({ after, limit: 3 });
    fed.push(...page.rows.map(({ jobId }) => jobId));
    after = page.rows.at(-1)?.position ?? null;
    if (after === null) break;
  }
  expect([new Set(listed).size, listed]).toEqual([10, fed.toReversed()]);
  await store.close();
  await app.close();
});

test('two purges at once of jobs that were created together leave nothing that lists them', async () => {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const other = await rig.connect();
  for (let round = 0; round < 10; round++) {
    const ids = Array.from({ length: 6 }, (_, n) => `job_twice_${round}_${n}`);
    await rig.store.commit(await Promise.all(ids.map((id) => rig.prepare(id, rig.createCommand(id)))));
    for (const id of ids) await rig.give(id, command('cancel'));
    const half = (from: number) => ids.slice(from, from + 3).map((jobId) => ({ jobId, guard: null }));
    await Promise.all([
      rig.store.purge({ jobs: half(0), identityTtlMs: 0 }),
      other.purge({ jobs: half(3), identityTtlMs: 0 }),
    ]);
  }
  expect(await ask(url, 'SELECT 1 FROM pawl.created')).toEqual([]);
  await rig.stop();
});

test('GUA-10 a heartbeat does not wait for a claim of its worker that is being written; whoever ends the worker does', async () => {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const beat = { worker: rig.worker('worker-a'), leaseMs: 30_000, lanes: [] };
  await rig.create('job_slow_1');
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query('BEGIN; LOCK TABLE pawl.log IN SHARE MODE');
  const claiming = rig.claim('worker-a');
  await waitsForLock(url);
  expect((await rig.store.beat(beat)).alive).toBe(true);
  rig.clock.advance(60_000);
  const orphans = rig.store.orphans({ limit: 10 });
  await waitsForLock(url, 2);
  await other.query('COMMIT');
  expect((await claiming).jobs).toHaveLength(1);
  expect((await orphans).jobs.map(({ job }) => job.spec.jobId)).toEqual(['job_slow_1']);
  expect((await rig.store.beat(beat)).alive).toBe(false);
  await other.end();
  await rig.stop();
});
