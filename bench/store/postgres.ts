/**
 * What the Postgres store costs beside Postgres itself: `npm run bench:store:postgres`.
 *
 * Each workload runs on the store and, in the same run and with the same bytes, as the least SQL that could do it:
 * multi-row statements on one connection, full durability on both sides. The ratio is what counts.
 */
import pg from 'pg';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { startPostgres } from '../../test/postgres-server.js';
import { rateOf } from '../harness/statistics.js';
import { rawPostgres } from '../raw/raw-postgres.js';
import { rawRates, report, type Round } from './compare.js';
import { BATCH, claimAndComplete, clock, createAll, creates, drainReopened, worker } from './workload.js';

const JOBS = 20_000;
const ROUNDS = 5;

const server = await startPostgres();

async function ask<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows as Row[];
}

async function round(n: number): Promise<Round> {
  const items = creates(JOBS);
  const url = await server.createDatabase();
  const store = await postgresStore({ url, clock });
  await store.beat({ worker, leaseMs: 600_000, lanes: [] });
  const create = await rateOf(JOBS, () => createAll(store, items));
  const { byStore, inAll } = await claimAndComplete(store, JOBS);
  await store.close();
  const other = await server.createDatabase();
  const reopened = await drainReopened(JOBS, () => postgresStore({ url: other, clock }));
  const raw = await rawRates(await rawPostgres(await server.createDatabase()), items, BATCH);
  if (n === 0) {
    const sizes = await ask<{ bytes: string }>(
      url,
      "SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c WHERE relnamespace = 'pawl'::regnamespace AND relkind = 'r'",
    );
    const bytes = Math.round(Number(sizes[0]?.bytes) / JOBS);
    console.log(`bytes in tables and indexes per job after its whole life: ${bytes}; rows: 1 job, 2 log\n`);
  }
  return { create, 'claim + complete': byStore, 'and the kernel': inAll, reopened, ...raw };
}

console.log(
  `Postgres store, ${JOBS} jobs in batches of ${BATCH}, ${ROUNDS} rounds, median (Node ${process.version})`,
);
try {
  const rounds: Round[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push(await round(n));
  process.exitCode = report(rounds) ? 0 : 1;
} finally {
  await server.stop();
}
