import { must, UnreadableLog, type Status } from '../../kernel/index.js';
import type { Loaded, LogRow } from '../../ports/store.js';
import {
  assemble,
  assembleIdle,
  STORED_COLUMNS,
  type IdleRow,
  type RestOfIdle,
  type StoredRow,
} from '../job-state.js';
import type { ReadAhead } from '../read-ahead.js';
import { isStill } from '../recent-jobs.js';
import type { UnreadableJobs } from '../unreadable-jobs.js';
import type { Session } from './session.js';

type StoredLog = {
  readonly rev: number;
  readonly command_id: string;
  readonly body: string;
  readonly link: string;
};

export function load(db: Session, jobId: string): Loaded | null {
  const row = db.get<StoredRow & { id: number }>(
    `SELECT id, ${STORED_COLUMNS.join(', ')} FROM jobs WHERE job_id = ?`,
    jobId,
  );
  if (!row) return null;
  const log = db
    .all<StoredLog>(
      'SELECT rev, command_id, body, link FROM log WHERE job = ? AND (rev = 1 OR rev >= ?) ORDER BY rev',
      row.id,
      row.rev,
    )
    .map((stored) => logRow(jobId, stored));
  return log.length === 0 ? purged(db, jobId) : assemble(row, log);
}

/** Another process has purged the job since its row was read: that takes row and log together. A row alone is damage. */
function purged(db: Session, jobId: string): null {
  const alone = db.get(
    'SELECT 1 FROM jobs WHERE job_id = ? AND NOT EXISTS (SELECT 1 FROM log WHERE job = jobs.id)',
    jobId,
  );
  if (alone)
    throw new UnreadableLog({ jobId, rev: 1 }, { code: 'EVENT_UNREADABLE', problem: 'it has no log' });
  return null;
}

/** A job that nobody runs: where it is, and how to find out whether it is the one that is remembered. */
export type Idle = IdleRow & {
  readonly id: number;
  /** What makes it whole; null if that was not read with it. */
  readonly rest: RestOfIdle | null;
};

/** What a search selects of `jobs` besides, to have them whole, and joins for that. */
export const REST = 'status, attempt_id, updated_at, state, first.body, ifnull(head.link, first.link)';
export const JOIN_REST = `CROSS JOIN log AS first ON first.job = jobs.id AND first.rev = 1
   LEFT JOIN log AS head ON jobs.rev > 1 AND head.job = jobs.id AND head.rev = jobs.rev`;

export type RestTuple = readonly [
  status: Status,
  attemptId: string | null,
  updatedAt: number,
  state: string,
  created: string,
  link: string,
];

export function restOf([status, attempt_id, updated_at, state, created, link]: RestTuple): RestOfIdle {
  return { status, attempt_id, updated_at, state, created, link };
}

/**
 * Due jobs, made whole. What this process saved itself is at hand; of the others their rows and two of the log of each
 * are read, all together, unless they were read when they were found. Nobody holds them and they have not ended, or they would not
 * be due; so their rows are up to date. Null for one that cannot be read.
 */
export function loadIdle(
  db: Session,
  { reading, unreadable, now }: { reading: ReadAhead; unreadable: UnreadableJobs; now: number },
  rows: readonly Idle[],
): (Loaded | null)[] {
  let unknown = 0;
  const whole = (row: Idle, rest: RestOfIdle | undefined): Loaded | null =>
    unreadable.reading(row.job_id, now, () => assembleIdle(row, must(rest, 'a due job has a log')));
  const found = rows.map((row): Loaded | 'missing' | null => {
    const known = remembered(db, row);
    if (known !== null) return known;
    unknown += 1;
    return row.rest ? whole(row, row.rest) : 'missing';
  });
  reading.claimed(rows.length, unknown);
  const missing = rows.filter((_, i) => found[i] === 'missing');
  const read = missing.length === 0 ? NOTHING : readRest(db, missing);
  return rows.map((row, i) => {
    const one = found[i] ?? null;
    return one === 'missing' ? whole(row, read.get(row.id)) : one;
  });
}

const NOTHING: ReadonlyMap<number, RestOfIdle> = new Map();

function remembered(db: Session, { job_id, rev, created_at, inbox_rev }: Idle): Loaded | null {
  const known = db.recent.get(job_id);
  if (!known || !isStill(known.job, { rev, created_at })) return null;
  return { job: known.job, link: known.link, inboxRev: inbox_rev };
}

const REST_OF_ALL = `SELECT jobs.id, ${REST} FROM json_each(?) AS wanted CROSS JOIN jobs ON jobs.id = wanted.value ${JOIN_REST}`;

/** By where each job is. */
function readRest(db: Session, rows: readonly Idle[]): Map<number, RestOfIdle> {
  const ids = JSON.stringify(rows.map(({ id }) => id));
  const tuples = db.tuples<readonly [id: number, ...rest: RestTuple]>(REST_OF_ALL, ids);
  return new Map(tuples.map(([id, ...rest]) => [id, restOf(rest)]));
}

export function logRow(jobId: string, { rev, command_id, body, link }: StoredLog): LogRow {
  return { jobId, rev, commandId: command_id, body, link };
}
