/**
 * What counting by tenant costs beside a million finished jobs, and what its indexes cost those who never are counted:
 * `npm run bench:tallies`, or `npm run bench:tallies -- postgres`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Store } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { startPostgres } from '../../test/postgres-server.js';
import { median } from '../harness/statistics.js';
import { claimAndComplete, clock, createAll, creates, worker } from './workload.js';

/** A database of its own: the store on it, and a way to send it SQL. */
type Ground = { readonly store: Store; readonly run: (sql: string) => Promise<void> };

const now = Date.now();
const LATER = `${now + 1e9}`;

/** How many, whose, and the columns that tell where they stand. */
const CROWDS = [
  [1_000_000, 'acme', { status: 'succeeded', finished_at: `${now}` }],
  [200_000, 'globex', { status: 'scheduled', due_at: LATER }],
  [200_000, 'globex', { status: 'queued', due_at: `${now}`, ready: 'true' }],
  [100_000, 'initech', { status: 'retrying', due_at: LATER }],
  [11, 'acme', { status: 'retrying', due_at: LATER }],
  [500, 'acme', { status: 'waiting' }],
  [50, 'acme', { status: 'running', incarnation: "'w.1'" }],
] as const;

/** `schema` is empty on SQLite. */
function inserts(schema: string): string[] {
  const jobs = CROWDS.map(([count, tenantId, { status, ...where }], crowd) => {
    const columns = { ready: 'false', ...where };
    return `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO ${schema}jobs (job_id, bucket, tenant_id, task, queue, lane, gate, priority, status, rev, created_at, updated_at,
        state, ${Object.keys(columns).join(', ')})
      SELECT 'job_${crowd}_' || i, 0, '${tenantId}', 'order', 'default', 'lane', '', 0, '${status}', 3, ${now}, ${now}, '{}',
        ${Object.values(columns).join(', ')} FROM n`;
  });
  const letters = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO ${schema}dlq_items (dlq_id, job_id, tenant_id, status, version, created_at, item)
    SELECT 'd' || i, 'j' || i, 'acme', 'open', 1, ${now} - i * 60, '{}' FROM n`;
  return [...jobs, letters];
}

async function measure(name: string, ask: () => Promise<object>): Promise<void> {
  const times: number[] = [];
  let answer = '';
  for (let n = 0; n < 7; n++) {
    const start = performance.now();
    const { now: _now, ...said } = (await ask()) as { now: number };
    times.push(performance.now() - start);
    answer = JSON.stringify(said);
  }
  console.log(`${name.padEnd(34)} ${median(times).toFixed(2).padStart(7)} ms  ${answer}`);
}

async function countBeside({ store, run }: Ground, schema: string): Promise<void> {
  for (const sql of inserts(schema)) await run(sql);
  await measure('retrying, by tenant', () => store.retrying({ atLeast: 11 }));
  await measure('live of acme, up to 56', () => store.countLive({ tenantId: 'acme', atMost: 56 }));
  await measure('live of acme, all', () => store.countLive({ tenantId: 'acme', atMost: 1e6 }));
  await measure('live of globex, all', () => store.countLive({ tenantId: 'globex', atMost: 1e6 }));
  const window = { until: now + 1, atLeast: 1 };
  await measure('dead letters of five minutes', () => store.dlqEntered({ from: now - 300_000, ...window }));
  await measure('dead letters of an hour', () => store.dlqEntered({ from: now - 3_600_000, ...window }));
  await store.close();
}

const JOBS = 10_000;
const ROUNDS = 7;

/** Alternating, so that the machine's moods fall on both sides alike. */
async function compare(open: () => Promise<Ground>, schema: string): Promise<void> {
  const took: Record<'with' | 'without', number[]> = { with: [], without: [] };
  for (let n = 0; n < 2 * ROUNDS; n++) {
    const side = n % 4 === 0 || n % 4 === 3 ? 'with' : 'without';
    const { store, run } = await open();
    if (side === 'without')
      for (const index of ['jobs_retrying', 'jobs_resting']) await run(`DROP INDEX ${schema}${index}`);
    await store.beat({ worker, leaseMs: 600_000, lanes: [] });
    await createAll(store, creates(JOBS));
    const start = performance.now();
    await claimAndComplete(store, JOBS);
    took[side].push(((performance.now() - start) * 1_000) / JOBS);
    await store.close();
  }
  const show = (side: keyof typeof took) =>
    `${side} ${median(took[side]).toFixed(1)} (least ${Math.min(...took[side]).toFixed(1)})`;
  console.log(`claim + complete, µs for each job: ${show('with')}, ${show('without')} the two indexes`);
}

if (process.argv.includes('postgres')) {
  const server = await startPostgres();
  const open = async (): Promise<Ground> => {
    const url = await server.createDatabase();
    const store = await postgresStore({ url, clock });
    const run = async (sql: string): Promise<void> => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(sql);
      await client.end();
    };
    return { store, run };
  };
  await countBeside(await open(), 'pawl.');
  await compare(open, 'pawl.');
  await server.stop();
} else {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-tallies-'));
  let files = 0;
  const open = async (): Promise<Ground> => {
    const path = join(folder, `${files++}.db`);
    const store = await sqliteStore({ path, clock });
    const run = async (sql: string): Promise<void> => {
      const db = await openDatabase(path);
      db.exec(sql);
      db.close();
    };
    return { store, run };
  };
  await countBeside(await open(), '');
  await compare(open, '');
  rmSync(folder, { recursive: true });
}
