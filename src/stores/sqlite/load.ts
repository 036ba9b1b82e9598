import { must, type Status } from '../../kernel/index.js';
import type { Loaded, LogRow } from '../../ports/store.js';
import {
  assemble,
  assembleIdle,
  STORED_COLUMNS,
  type IdleRow,
  type RestOfIdle,
  type StoredRow,
} from '../job-state.js';
import { isStill } from '../recent-jobs.js';
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
  return assemble(row, log);
}

type Idle = IdleRow & { readonly id: number };

type IdleTuple = readonly [
  id: number,
  status: Status,
  attemptId: string | null,
  updatedAt: number,
  state: string,
  created: string,
  link: string,
];

/**
 * Due jobs, made whole. What this process saved itself is at hand; of the others their rows and two of the log of each
 * are read, all together. Nobody holds them and they have not ended, or they would not be due; so their rows are up to
 * date.
 */
export function loadIdle(db: Session, rows: readonly Idle[]): Loaded[] {
  const found = rows.map((row) => remembered(db, row));
  const missing = rows.filter((_, i) => found[i] === null);
  if (missing.length === 0) return found as Loaded[];
  const read = readIdle(db, missing);
  return rows.map((row, i) => found[i] ?? assembleIdle(row, must(read.get(row.id), 'a due job has a log')));
}

function remembered(db: Session, { job_id, rev, created_at, inbox_rev }: Idle): Loaded | null {
  const known = db.recent.get(job_id);
  if (!known || !isStill(known.job, { rev, created_at })) return null;
  return { job: known.job, link: known.link, inboxRev: inbox_rev };
}

const REST = `SELECT jobs.id, status, attempt_id, updated_at, state, first.body, ifnull(head.link, first.link) FROM jobs
   CROSS JOIN log AS first ON first.job = jobs.id AND first.rev = 1
   LEFT JOIN log AS head ON jobs.rev > 1 AND head.job = jobs.id AND head.rev = jobs.rev`;
/** A job that comes alone needs no list to be taken apart. */
const REST_OF_ONE = `${REST} WHERE jobs.id = ?`;
const REST_OF_ALL = REST.replace(
  'FROM jobs',
  'FROM json_each(?) AS wanted CROSS JOIN jobs ON jobs.id = wanted.value',
);

/** The rest of each, by where it is. */
function readIdle(db: Session, rows: readonly Idle[]): Map<number, RestOfIdle> {
  const ids = rows.map(({ id }) => id);
  const tuples =
    ids.length === 1
      ? db.tuples<IdleTuple>(REST_OF_ONE, ids[0] ?? 0)
      : db.tuples<IdleTuple>(REST_OF_ALL, `[${ids.join()}]`);
  return new Map(
    tuples.map(([id, status, attempt_id, updated_at, state, created, link]) => [
      id,
      { status, attempt_id, updated_at, state, created, link },
    ]),
  );
}

export function logRow(jobId: string, { rev, command_id, body, link }: StoredLog): LogRow {
  return { jobId, rev, commandId: command_id, body, link };
}
