import { runSummary, type RunSnapshot, type RunSummary } from '../../contracts/index.js';
import type { StoreClock } from '../../ports/clock.js';
import type { OpenRunStates } from '../run-states/open-run-states.js';
import { readSnapshot } from '../run-states/read-snapshot.js';
import { tableRunStates } from '../run-states/table-run-states.js';
import { openFile } from './open-file.js';
import { sameFile } from './same-file.js';
import { Session } from './session.js';

/** A table of its own, beside the jobs or in another file. Lists never touch the steps. */
const TABLE = `
  CREATE TABLE IF NOT EXISTS run_states (
    run_id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    workflow_name TEXT NOT NULL,
    summary TEXT NOT NULL,
    steps TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS run_states_by_status ON run_states (status, run_id);`;

type Row = { readonly summary: string; readonly steps: string };

/** Run states in a SQLite file, which several processes may open. */
export async function sqliteRunStates({
  path,
  clock,
}: {
  path: string;
  clock: StoreClock;
}): Promise<OpenRunStates> {
  const db = new Session(
    await openFile(path, { clock, prepare: (opened) => opened.exec(TABLE) }),
    clock,
    sameFile(path),
  );
  const states = tableRunStates({
    insert: (snapshot) =>
      db.write(() => {
        const { run_id, version, status, workflow_name } = snapshot;
        const values = [run_id, version, status, workflow_name, ...textsOf(snapshot)];
        return (
          db.run('INSERT INTO run_states VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING', ...values)
            .changes > 0
        );
      }),
    replace: (snapshot, expected) =>
      db.write(() => {
        const { run_id, version, status } = snapshot;
        return (
          db.run(
            'UPDATE run_states SET version = ?, status = ?, summary = ?, steps = ? WHERE run_id = ? AND version = ?',
            version,
            status,
            ...textsOf(snapshot),
            run_id,
            expected,
          ).changes > 0
        );
      }),
    async read(runId) {
      const row = db.get<Row>('SELECT summary, steps FROM run_states WHERE run_id = ?', runId);
      if (row === undefined) return null;
      return readSnapshot(`${row.summary.slice(0, -1)},"steps":${row.steps}}`, {
        runId,
        where: `run ${runId}`,
      });
    },
    async list({ status, workflowName, before, limit }) {
      const rows = db.all<{ summary: string }>(
        `SELECT summary FROM run_states WHERE status = ifnull(?, status) AND workflow_name = ifnull(?, workflow_name)
         AND (? IS NULL OR run_id < ?) ORDER BY run_id DESC LIMIT +?`,
        status ?? null,
        workflowName,
        before,
        before,
        limit,
      );
      return rows.map(({ summary }) => JSON.parse(summary) as RunSummary);
    },
  });
  return { ...states, close: () => db.close() };
}

function textsOf(snapshot: RunSnapshot): [summary: string, steps: string] {
  return [JSON.stringify(runSummary(snapshot)), JSON.stringify(snapshot.steps)];
}
