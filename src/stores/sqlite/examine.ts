import { statSync } from 'node:fs';
import { openDatabase, type Database } from './driver.js';

/** What a doctor wants to know of a database file. */
export type SqliteFacts = {
  readonly version: string;
  readonly journalMode: string;
  readonly bytes: number;
  /** Pages that nothing lies in. */
  readonly freeBytes: number;
  readonly walBytes: number;
  /** Jobs that could be claimed now, and since when the one that has waited longest. */
  readonly dueJobs: number;
  readonly oldestDueAt: number | null;
  /** The newest time that was seen to be reached, as far as the claim index and the end of the log tell. */
  readonly newestAt: number | null;
};

/** A job is ready once it is due, so that none is due later than now. */
const NEWEST = `SELECT max(at) AS at FROM (
  SELECT max(due_at) AS at FROM jobs WHERE ready = 1
  UNION ALL SELECT max(updated_at) FROM jobs WHERE id IN (SELECT job FROM log ORDER BY position DESC LIMIT 1000))`;

/** Looks, on a connection of its own, and changes nothing. */
export async function examineSqlite(path: string, now: number): Promise<SqliteFacts> {
  const db = await openDatabase(path);
  try {
    const pageBytes = numberOf(db, 'PRAGMA page_size', 'page_size');
    const due = db
      .prepare(
        `SELECT count(*) AS jobs, min(due_at) AS oldest FROM jobs
         WHERE held = 0 AND due_at IS NOT NULL AND due_at <= ?`,
      )
      .get(now);
    const newest = db.prepare(NEWEST).get()?.['at'] ?? null;
    return {
      version: String(db.prepare('SELECT sqlite_version() AS version').get()?.['version']),
      journalMode: String(db.prepare('PRAGMA journal_mode').get()?.['journal_mode']),
      bytes: numberOf(db, 'PRAGMA page_count', 'page_count') * pageBytes,
      freeBytes: numberOf(db, 'PRAGMA freelist_count', 'freelist_count') * pageBytes,
      walBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      dueJobs: Number(due?.['jobs'] ?? 0),
      oldestDueAt: due?.['oldest'] === null ? null : Number(due?.['oldest']),
      newestAt: newest === null ? null : Number(newest),
    };
  } finally {
    db.close();
  }
}

function numberOf(db: Database, sql: string, column: string): number {
  return Number(db.prepare(sql).get()?.[column] ?? 0);
}
