import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { batchesOf, RAW, type RawDatabase } from './raw-database.js';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS jobs (id INTEGER PRIMARY KEY, job_id TEXT NOT NULL UNIQUE, lane TEXT NOT NULL, tenant_id TEXT NOT NULL,
    priority INTEGER NOT NULL, due_at INTEGER, attempt_id TEXT, holder TEXT, state TEXT NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS due ON jobs (lane, tenant_id, priority DESC, due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS held ON jobs (holder) WHERE holder IS NOT NULL;
  CREATE TABLE IF NOT EXISTS log (position INTEGER PRIMARY KEY, job INTEGER NOT NULL, rev INTEGER NOT NULL, command_id TEXT NOT NULL,
    body TEXT NOT NULL, link TEXT NOT NULL, UNIQUE (job, rev)) STRICT`;

const DUE = `SELECT jobs.id, job_id, state, body, link FROM jobs JOIN log ON log.job = jobs.id AND rev = 1
  WHERE lane = ? AND tenant_id = ? AND due_at IS NOT NULL AND due_at <= ? ORDER BY priority DESC, due_at LIMIT ?`;

type Claimed = { readonly id: number; readonly jobId: string };
export type RawSqlite = RawDatabase & { claim(batch: number, link: string): readonly Claimed[] };

/** On one connection, in transactions of many rows. */
export async function rawSqlite(path: string): Promise<RawSqlite> {
  const db = await openDatabase(path);
  db.exec('PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec(SCHEMA);
  const insertJob = db.prepare(
    'INSERT INTO jobs (job_id, lane, tenant_id, priority, due_at, state) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const insertLog = db.prepare('INSERT INTO log (job, rev, command_id, body, link) VALUES (?, ?, ?, ?, ?)');
  const due = db.prepare(DUE);
  const hold = db.prepare(
    'UPDATE jobs SET due_at = NULL, attempt_id = ?, holder = ?, state = ? WHERE id = ?',
  );
  const end = db.prepare('UPDATE jobs SET holder = NULL, state = ? WHERE id = ? AND attempt_id = ?');

  const together = (write: () => void): void => {
    db.exec('BEGIN IMMEDIATE');
    write();
    db.exec('COMMIT');
  };
  const claim = (batch: number, link: string): Claimed[] => {
    let claimed: Claimed[] = [];
    together(() => {
      const found = due.all(RAW.lane, 'acme', Date.now(), batch);
      claimed = found.map(({ id, job_id }) => ({ id: Number(id), jobId: String(job_id) }));
      for (const { id } of claimed) {
        hold.run(`w/${id}`, 'w.1', RAW.claimed, id);
        insertLog.run(id, 2, `w/${id}`, RAW.claim, link);
      }
    });
    return claimed;
  };
  return {
    claim,
    async create(items, batch) {
      for (const part of batchesOf(items, batch)) {
        together(() => {
          for (const { jobId, commandId, body, link } of part) {
            const { lastInsertRowid } = insertJob.run(jobId, RAW.lane, 'acme', 0, Date.now(), '{}');
            insertLog.run(Number(lastInsertRowid), 1, commandId, body, link);
          }
        });
      }
    },
    async finish(jobs, { batch, steps = 0, link }) {
      for (let finished = 0; finished < jobs;) {
        const ids = claim(batch, link).map(({ id }) => id);
        if (ids.length === 0) throw new Error('nothing to claim');
        for (let step = 0; step < steps; step++) {
          together(() => ids.forEach((id) => insertLog.run(id, 3 + step, `${id}/${step}`, RAW.step, link)));
        }
        together(() => {
          for (const id of ids) {
            end.run(RAW.ended, id, `w/${id}`);
            insertLog.run(id, 3 + steps, `${id}/end`, RAW.end, link);
          }
        });
        finished += ids.length;
      }
    },
    async steps(count, link) {
      const id = claim(1, link)[0]?.id ?? 0;
      return Array.from({ length: count }, (_, step) => {
        const from = performance.now();
        together(() => void insertLog.run(id, 3 + step, `${id}/${step}`, RAW.step, link));
        return performance.now() - from;
      });
    },
    close: async () => db.close(),
  };
}
