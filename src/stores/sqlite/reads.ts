import type { FeedPosition, LogRow, Reply } from '../../ports/store.js';
import { feedIndex } from '../feed-position.js';
import { logRow } from './load.js';
import type { Session } from './session.js';

type StoredLog = Parameters<typeof logRow>[1];

export function log(
  db: Session,
  jobId: string,
  { fromRev, limit }: { fromRev: number; limit: number },
): Reply<{ rows: LogRow[] }> {
  const rows = db.all<StoredLog>(
    `SELECT rev, command_id, body, link FROM log
     WHERE job = (SELECT id FROM jobs WHERE job_id = ?) AND rev >= ? ORDER BY rev LIMIT +?`,
    jobId,
    fromRev,
    limit,
  );
  return { now: db.now(), rows: rows.map((row) => logRow(jobId, row)) };
}

export function feed(
  db: Session,
  { after, limit }: { after: FeedPosition | null; limit: number },
): Reply<{ rows: (LogRow & { position: FeedPosition })[] }> {
  const rows = db.all<StoredLog & { position: number; job_id: string }>(
    `SELECT position, job_id, log.rev, command_id, body, link FROM log JOIN jobs ON jobs.id = log.job
     WHERE position > ? ORDER BY position LIMIT +?`,
    feedIndex(after),
    limit,
  );
  return {
    now: db.now(),
    rows: rows.map((row) => ({ ...logRow(row.job_id, row), position: `${row.position}` })),
  };
}

/** What was deleted lies before it too: a purge leaves its mark behind that. */
export function feedEnd(db: Session): Reply<{ position: FeedPosition }> {
  const row = db.get<{ last: number | null }>('SELECT max(position) AS last FROM log');
  return { now: db.now(), position: `${row?.last ?? 0}` };
}

/** As many by each of the two small indexes, however many more are due. */
export function due(
  db: Session,
  { limit, except }: { limit: number; except: readonly string[] },
): Reply<{ jobIds: string[] }> {
  const now = db.now();
  const first = (column: string): string =>
    `SELECT * FROM (SELECT ${column} AS at, id, job_id FROM jobs WHERE ${column} <= ?1
     AND job_id NOT IN (SELECT value FROM json_each(?2)) ORDER BY ${column}, id LIMIT +?3)`;
  const rows = db.all<{ job_id: string }>(
    `SELECT job_id FROM (${first('wake_at')} UNION ALL ${first('deadline_at')}) ORDER BY at, id`,
    now,
    JSON.stringify(except),
    limit,
  );
  return { now, jobIds: [...new Set(rows.map(({ job_id }) => job_id))].slice(0, limit) };
}
