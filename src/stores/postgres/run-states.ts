import { runSummary, type RunSnapshot, type RunSummary } from '../../contracts/index.js';
import type { Clock } from '../../ports/clock.js';
import type { OpenRunStates } from '../run-states/open-run-states.js';
import { readSnapshot } from '../run-states/read-snapshot.js';
import { tableRunStates } from '../run-states/table-run-states.js';
import { Session } from './session.js';

/** Holds other processes back while one makes the table. Any number will do, as long as nobody else uses it. */
const TABLE_LOCK = 7_295_002;

/**
 * A table of its own, beside the jobs or in another database. Lists never touch the steps. `written_by` names the change that
 * the row came from: one whose connection broke is sent again, and must know its own work.
 */
const TABLE = [
  'CREATE SCHEMA IF NOT EXISTS pawl',
  `CREATE TABLE IF NOT EXISTS pawl.run_states (
     run_id text COLLATE "C" PRIMARY KEY,
     version int NOT NULL,
     status text NOT NULL,
     workflow_name text NOT NULL,
     summary text NOT NULL,
     steps text NOT NULL,
     written_by text NOT NULL
   )`,
  'CREATE INDEX IF NOT EXISTS run_states_by_status ON pawl.run_states (status, run_id)',
];

const IS_OURS = 'SELECT 1 FROM pawl.run_states WHERE run_id = $1 AND written_by = $2';

/** Run states in a Postgres database, shared by any number of processes. */
export async function postgresRunStates(options: {
  url: string;
  clock: Pick<Clock, 'after'>;
}): Promise<OpenRunStates> {
  const session = new Session({ ...options, rememberBytes: 0 });
  try {
    return over(session, await prepare(session));
  } catch (error) {
    await session.close();
    throw error;
  }
}

function over(session: Session, name: string): OpenRunStates {
  const db = session.single;
  let writes = 0;
  const write = async (runId: string, sql: string, values: readonly unknown[]): Promise<boolean> => {
    const writtenBy = `${name}/${(writes += 1)}`;
    const saved = await db.rows(sql, [runId, writtenBy, ...values]);
    return saved.length > 0 || (await db.rows(IS_OURS, [runId, writtenBy])).length > 0;
  };
  const states = tableRunStates({
    insert: (snapshot) =>
      write(
        snapshot.run_id,
        `INSERT INTO pawl.run_states (run_id, written_by, version, status, workflow_name, summary, steps)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING 1`,
        [snapshot.version, snapshot.status, snapshot.workflow_name, ...textsOf(snapshot)],
      ),
    replace: (snapshot, expected) =>
      write(
        snapshot.run_id,
        `UPDATE pawl.run_states SET written_by = $2, version = $3, status = $4, summary = $5, steps = $6
         WHERE run_id = $1 AND version = $7 RETURNING 1`,
        [snapshot.version, snapshot.status, ...textsOf(snapshot), expected],
      ),
    async read(runId) {
      const [row] = await db.rows<{ summary: string; steps: string }>(
        'SELECT summary, steps FROM pawl.run_states WHERE run_id = $1',
        [runId],
      );
      if (row === undefined) return null;
      return readSnapshot(`${row.summary.slice(0, -1)},"steps":${row.steps}}`, {
        runId,
        where: `run ${runId}`,
      });
    },
    async list({ status, workflowName, before, limit }) {
      const rows = await db.rows<{ summary: string }>(
        `SELECT summary FROM pawl.run_states WHERE ($1::text IS NULL OR status = $1)
         AND ($2::text IS NULL OR workflow_name = $2) AND ($3::text IS NULL OR run_id < $3)
         ORDER BY run_id DESC LIMIT $4`,
        [status, workflowName, before, limit],
      );
      return rows.map(({ summary }) => JSON.parse(summary) as RunSummary);
    },
  });
  return { ...states, close: () => session.close() };
}

/** Makes the table if it is not there, and draws a name for this connection. */
async function prepare(session: Session): Promise<string> {
  const [found] = await session.single.rows<{ there: boolean; name: string }>(
    "SELECT to_regclass('pawl.run_states') IS NOT NULL AS there, gen_random_uuid()::text AS name",
  );
  if (!found?.there) {
    await session.transaction(async (db) => {
      await db.rows('SELECT pg_advisory_xact_lock($1)', [TABLE_LOCK]);
      for (const sql of TABLE) await db.rows(sql);
    });
  }
  return found?.name ?? '';
}

/** As JSON, which escapes the one letter that Postgres keeps in no text. */
function textsOf(snapshot: RunSnapshot): [summary: string, steps: string] {
  return [JSON.stringify(runSummary(snapshot)), JSON.stringify(snapshot.steps)];
}
