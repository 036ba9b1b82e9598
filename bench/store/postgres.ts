/**
 * What the Postgres store costs beside Postgres itself: `npm run bench:store:postgres`.
 *
 * Each workload runs on the store and, in the same run and with the same bytes, as the least SQL that could do it:
 * multi-row statements on one connection, full durability on both sides. The ratio is what counts.
 */
import pg from 'pg';
import type { CommitItem } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { startPostgres } from '../../test/postgres-server.js';
import { rateOf, report, type Round } from './compare.js';
import {
  BATCH,
  batchesOf,
  claimAndComplete,
  clock,
  createAll,
  creates,
  drainReopened,
  lane,
  RAW,
  worker,
} from './workload.js';

const JOBS = 20_000;
const ROUNDS = 5;

/**
 * The least that does the same: jobs that are claimed by tenant, priority and time, a holder whose jobs can be found,
 * a log that cannot fork and can be followed, and the same bytes.
 */
const RAW_SCHEMA = `
  CREATE TABLE jobs (job_id text COLLATE "C" PRIMARY KEY, lane text NOT NULL, tenant_id text NOT NULL, priority int NOT NULL,
    due_at bigint, attempt_id text, holder text, state text NOT NULL) WITH (fillfactor = 80);
  CREATE INDEX due ON jobs (lane, tenant_id, priority DESC, due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX held ON jobs (holder) WHERE holder IS NOT NULL;
  CREATE TABLE log (job_id text COLLATE "C", rev int, command_id text NOT NULL, body text NOT NULL, link text NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(), PRIMARY KEY (job_id, rev));
  CREATE INDEX feed ON log (xid);`;

const column = <T>(items: readonly T[], value: (item: T) => unknown): unknown[] => items.map(value);

async function rawCreate(db: pg.Client, items: readonly CommitItem[]): Promise<void> {
  for (const batch of batchesOf(items)) {
    const ids = column(batch, ({ jobId }) => jobId);
    await db.query({
      name: 'create',
      text: `WITH job AS (INSERT INTO jobs (job_id, lane, tenant_id, priority, due_at, state)
               SELECT id, $5, 'acme', 0, $6::bigint, '{}' FROM unnest($1::text[]) AS id)
             INSERT INTO log (job_id, rev, command_id, body, link)
             SELECT id, 1, c, b, l FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS i (id, c, b, l)`,
      values: [
        ids,
        column(batch, ({ commandId }) => commandId),
        column(batch, ({ body }) => body),
        column(batch, ({ link }) => link),
        lane.lane,
        Date.now(),
      ],
    });
  }
}

async function rawClaimAndComplete(db: pg.Client, { link }: CommitItem): Promise<void> {
  for (let finished = 0; finished < JOBS;) {
    const { rows } = await db.query({
      name: 'claim',
      text: `WITH due AS (SELECT job_id FROM jobs WHERE lane = $1 AND tenant_id = 'acme' AND due_at <= $2
               ORDER BY priority DESC, due_at LIMIT $3 FOR UPDATE SKIP LOCKED),
             job AS (UPDATE jobs SET due_at = NULL, attempt_id = 'w/' || jobs.job_id, holder = 'w.1', state = $4
               FROM due WHERE jobs.job_id = due.job_id RETURNING jobs.job_id, state),
             logged AS (INSERT INTO log (job_id, rev, command_id, body, link) SELECT job_id, 2, job_id, $5, $6 FROM job)
             SELECT job.job_id, state, body, link FROM job JOIN log ON log.job_id = job.job_id AND rev = 1`,
      values: [lane.lane, Date.now(), BATCH, RAW.claimed, RAW.claim, link],
    });
    const ids = (rows as { job_id: string }[]).map(({ job_id }) => job_id);
    await db.query({
      name: 'complete',
      text: `WITH job AS (UPDATE jobs SET holder = NULL, state = s FROM unnest($1::text[], $2::text[], $3::text[]) AS i (id, a, s)
               WHERE job_id = id AND attempt_id = a)
             INSERT INTO log (job_id, rev, command_id, body, link)
             SELECT id, 3, id, b, l FROM unnest($1::text[], $4::text[], $5::text[]) AS i (id, b, l)`,
      values: [
        ids,
        ids.map((id) => `w/${id}`),
        ids.map(() => RAW.ended),
        ids.map(() => RAW.end),
        ids.map(() => link),
      ],
    });
    finished += ids.length;
  }
}

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
  const drain = await rateOf(JOBS, () => claimAndComplete(store, JOBS));
  await store.close();
  const other = await server.createDatabase();
  const reopened = await drainReopened(JOBS, () => postgresStore({ url: other, clock }));
  const rawUrl = await server.createDatabase();
  await ask(rawUrl, RAW_SCHEMA);
  const raw = new pg.Client({ connectionString: rawUrl });
  await raw.connect();
  const rawCreated = await rateOf(JOBS, () => rawCreate(raw, items));
  const rawDrained = await rateOf(JOBS, () => rawClaimAndComplete(raw, items[0] as CommitItem));
  await raw.end();
  if (n === 0) {
    const sizes = await ask<{ bytes: string }>(
      url,
      "SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c WHERE relnamespace = 'pawl'::regnamespace AND relkind = 'r'",
    );
    const bytes = Math.round(Number(sizes[0]?.bytes) / JOBS);
    console.log(`bytes in tables and indexes per job after its whole life: ${bytes}; rows: 1 job, 3 log\n`);
  }
  return {
    create,
    'raw create': rawCreated,
    'claim + complete': drain,
    reopened,
    'raw claim + complete': rawDrained,
  };
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
