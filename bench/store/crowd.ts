/**
 * What stands in the way of a claim, and must not: `npm run bench:crowd` (`-- postgres` for Postgres, `-- --jobs=100000`
 * for a smaller crowd).
 *
 * Claims of ten jobs are timed on an empty store, then with a million jobs in front that cannot run (unknown task,
 * paused queue, full concurrency key, due tomorrow), then behind a backlog of a million that can, and on Postgres while
 * another transaction stays open. Each must take less than twice as long as on the empty store. At the end the newest
 * fifty jobs are listed beside that crowd.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { JobSpec } from '../../src/kernel/index.js';
import type { Store } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { startPostgres } from '../../test/postgres-server.js';
import { median } from '../harness/statistics.js';
import { claimSome, clock, createAll, creates, endsOf, finish, lane, worker } from './workload.js';

const BAR = 2;
const CLAIM = 10;
const ROUNDS = 200;
const onPostgres = process.argv.includes('postgres');
const JOBS = Number(process.argv.find((arg) => arg.startsWith('--jobs='))?.slice(7) ?? 1_000_000);

async function addJobs(store: Store, count: number, spec: Partial<JobSpec>): Promise<void> {
  for (let left = count; left > 0; left -= 20_000) {
    await createAll(store, creates(Math.min(left, 20_000), spec));
    await store.beat({ worker, leaseMs: 3_600_000, lanes: [] });
  }
}

type Times = { readonly claims: number[]; readonly both: number[] };

async function timeOne(store: Store, { claims, both }: Times): Promise<void> {
  const start = process.hrtime.bigint();
  const heads = await claimSome(store, CLAIM);
  const claimed = process.hrtime.bigint();
  if (heads.length !== CLAIM) throw new Error(`${heads.length} jobs were claimed`);
  await finish(store, endsOf(heads));
  claims.push(Number(claimed - start) / 1e6);
  both.push(Number(process.hrtime.bigint() - start) / 1e6);
}

/** Claims on one store and on the other in turn, so that a disturbed machine disturbs both. */
async function compare(store: Store, empty: Store): Promise<{ ours: Times; base: Times }> {
  const [ours, base]: [Times, Times] = [
    { claims: [], both: [] },
    { claims: [], both: [] },
  ];
  for (const one of [store, empty]) await addJobs(one, ROUNDS * CLAIM, { priority: -1 });
  for (let n = 0; n < ROUNDS; n++) {
    await timeOne(empty, base);
    await timeOne(store, ours);
  }
  return { ours, base };
}

async function run(store: Store, empty: Store, url: string | null): Promise<boolean> {
  for (const one of [store, empty]) await one.beat({ worker, leaseMs: 3_600_000, lanes: [] });
  let met = true;
  const show = async (name: string): Promise<void> => {
    const { ours, base } = await compare(store, empty);
    const ratio = median(ours.claims) / median(base.claims);
    met &&= ratio < BAR;
    const ms = (values: readonly number[]) => `${median(values).toFixed(2).padStart(8)} ms`;
    console.log(
      `${ms(ours.claims)}${ms(ours.both)}  ${ratio.toFixed(2)}× ${name}${ratio < BAR ? '' : ': MISSED'}`,
    );
  };
  await compare(store, empty);
  console.log(`claim of ${CLAIM}, claim + complete, beside a store with nothing else in it (bar ${BAR}×)`);
  await show('nothing else here either');
  if (url !== null) {
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await other.query('SELECT count(*) FROM pawl.jobs');
    for (let n = 0; n < 10; n++) await compare(store, empty);
    await show('a transaction that stayed open for 20,000 jobs');
    await other.end();
  }
  const front = { priority: 1 };
  const part = Math.ceil(JOBS / 4);
  const keyed = { ...front, concurrencyKey: 'full' };
  await addJobs(store, 1, keyed);
  await claimSome(store, 1);
  lane.keyLimit = 1;
  await store.pauseQueue({ queue: 'paused', paused: true, by: 'operator:bench' });
  await addJobs(store, part, { ...front, task: 'unknown' });
  await addJobs(store, part, { ...front, queue: 'paused' });
  await addJobs(store, part, keyed);
  await addJobs(store, part, { ...front, scheduledAt: Date.now() + 86_400_000 });
  await show(`${(4 * part).toLocaleString('en')} jobs in front that cannot run`);
  await addJobs(store, JOBS, front);
  await show(`and a backlog of ${JOBS.toLocaleString('en')} that can`);
  const [pages, base] = [await timePages(store), await timePages(empty)];
  console.log(
    `${pages.toFixed(2)} ms for the newest 50 jobs of all these, ${base.toFixed(2)} ms without them`,
  );
  return met;
}

async function timePages(store: Store): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 20; n++) {
    const from = performance.now();
    await store.list({ tenantId: 'acme', statuses: null, task: null, limit: 50, cursor: null });
    times.push(performance.now() - from);
  }
  return median(times);
}

if (onPostgres) {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const [store, empty] = [
    await postgresStore({ url, clock }),
    await postgresStore({ url: await server.createDatabase(), clock }),
  ];
  process.exitCode = (await run(store, empty, url)) ? 0 : 1;
  for (const one of [store, empty]) await one.close();
  await server.stop();
} else {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
  const open = (name: string) => sqliteStore({ path: join(folder, name), clock });
  const [store, empty] = [await open('crowd.db'), await open('empty.db')];
  process.exitCode = (await run(store, empty, null)) ? 0 : 1;
  for (const one of [store, empty]) await one.close();
  rmSync(folder, { recursive: true });
}
