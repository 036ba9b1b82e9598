import { must, type Status } from '../../kernel/index.js';
import type { Loaded, LogRow } from '../../ports/store.js';
import { assemble, assembleIdle, STORED_COLUMNS, type StoredRow } from '../job-state.js';
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

type Idle = Pick<StoredRow, 'job_id' | 'rev' | 'created_at' | 'inbox_rev'> & { readonly id: number };

type IdleTuple = readonly [
  status: Status,
  attemptId: string | null,
  updatedAt: number,
  state: string,
  created: string,
  link: string,
];

/**
 * A due job, made whole. What this process saved itself is at hand; else its row and two of its log are read. Nobody
 * holds it and it has not ended, or it would not be due; so its row is up to date.
 */
export function loadIdle(db: Session, { id, job_id, rev, created_at, inbox_rev }: Idle): Loaded {
  const known = db.recent.get(job_id);
  if (known && isStill(known.job, { rev, created_at })) {
    return { job: known.job, link: known.link, inboxRev: inbox_rev };
  }
  const [tuple] = db.tuples<IdleTuple>(
    `SELECT status, attempt_id, updated_at, state, first.body, ifnull(head.link, first.link)
     FROM jobs JOIN log AS first ON first.job = jobs.id AND first.rev = 1
     LEFT JOIN log AS head ON jobs.rev > 1 AND head.job = jobs.id AND head.rev = jobs.rev WHERE jobs.id = ?`,
    id,
  );
  const [status, attempt_id, updated_at, state, created, link] = must(tuple, 'a job has a log');
  const idle = { incarnation: null, finished_at: null };
  const row = { job_id, status, rev, attempt_id, created_at, updated_at, inbox_rev, state, ...idle };
  return assembleIdle(row, { created, link });
}

export function logRow(jobId: string, { rev, command_id, body, link }: StoredLog): LogRow {
  return { jobId, rev, commandId: command_id, body, link };
}
