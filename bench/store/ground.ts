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
import { clock } from './workload.js';

/** A database of its own: the store on it, and a way to send it SQL. */
export type Ground = { readonly store: Store; readonly run: (sql: string) => Promise<void> };

/** `schema` is what names of tables begin with; empty on SQLite. */
export type Grounds = {
  readonly open: () => Promise<Ground>;
  readonly schema: string;
  readonly isPostgres: boolean;
};

/** On SQLite, or on Postgres if the command line says so. */
export async function onGrounds(work: (grounds: Grounds) => Promise<void>): Promise<void> {
  if (!process.argv.includes('postgres')) return onSqlite(work);
  const server = await startPostgres();
  const open = async (): Promise<Ground> => {
    const url = await server.createDatabase();
    const run = async (sql: string): Promise<void> => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(sql);
      await client.end();
    };
    return { store: await postgresStore({ url, clock }), run };
  };
  await work({ open, schema: 'pawl.', isPostgres: true });
  await server.stop();
}

async function onSqlite(work: (grounds: Grounds) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-ground-'));
  let files = 0;
  const open = async (): Promise<Ground> => {
    const path = join(folder, `${files++}.db`);
    const run = async (sql: string): Promise<void> => {
      const db = await openDatabase(path);
      db.exec(sql);
      db.close();
    };
    return { store: await sqliteStore({ path, clock }), run };
  };
  await work({ open, schema: '', isPostgres: false });
  rmSync(folder, { recursive: true });
}

export type Crowd = {
  readonly count: number;
  readonly tenantId: string;
  readonly task?: string;
  /** The columns that tell where they stand, as SQL. */
  readonly columns: Readonly<Record<string, string>>;
};

/** SQL that puts jobs there, one crowd after the other; Postgres then looks how many there are, as it does by itself after a minute. */
export function crowdsSql(crowds: readonly Crowd[], { schema, isPostgres }: Omit<Grounds, 'open'>): string[] {
  const now = Date.now();
  const inserts = crowds.flatMap(({ count, tenantId, task = 'order', columns: where }, crowd) => {
    // A thousand at a time.
    const xid = `((${crowd} * 10000 + i / 1000)::text)::xid8`;
    const first = { first_command: "'c'", first_body: "'b'", first_link: "'l'", created_xid: xid };
    const columns = { ready: 'false', ...(isPostgres ? first : {}), ...where };
    const ids = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
    const jobs = `${ids} INSERT INTO ${schema}jobs (job_id, bucket, tenant_id, task, queue, lane, gate, priority, rev, created_at, updated_at,
        state, ${Object.keys(columns).join(', ')})
      SELECT 'job_${crowd}_' || i, 0, '${tenantId}', '${task}', 'default', 'lane', '', 0, 3, ${now}, ${now}, '{}',
        ${Object.values(columns).join(', ')} FROM n`;
    const listed = `${ids} INSERT INTO ${schema}created (xid, tenant_id, job_ids)
      SELECT ${xid}, '${tenantId}', array_agg('job_${crowd}_' || i) FROM n GROUP BY 1`;
    return isPostgres ? [`${jobs}; ${listed}`] : [jobs];
  });
  return isPostgres ? [...inserts, 'ANALYZE pawl.jobs, pawl.created'] : inserts;
}

/** How long it takes, the middle of seven, and what is answered. */
export async function measure(
  name: string,
  ask: () => Promise<object>,
  shown: (answer: object) => unknown = (answer) => answer,
): Promise<void> {
  const times: number[] = [];
  let answer = '';
  for (let n = 0; n < 7; n++) {
    const start = performance.now();
    const { now: _now, ...said } = (await ask()) as { now: number };
    times.push(performance.now() - start);
    answer = JSON.stringify(shown(said));
  }
  console.log(`${name.padEnd(36)} ${median(times).toFixed(2).padStart(8)} ms  ${answer}`);
}
