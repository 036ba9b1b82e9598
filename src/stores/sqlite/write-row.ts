import { bucketOf, rowOf, type Job, type JobRow } from '../../kernel/index.js';
import type { CommitItem } from '../../ports/store.js';
import { encodeState } from '../job-state.js';
import type { SqlValue } from './driver.js';
import type { RecentRow, Session } from './session.js';

/** The columns that may change with a job, besides `state` and `ready`. */
const CHANGING = [
  'status',
  'rev',
  'attempt_id',
  'incarnation',
  'due_at',
  'wake_at',
  'deadline_at',
  'updated_at',
  'finished_at',
] as const;

function changing(row: JobRow): SqlValue[] {
  return [
    row.status,
    row.rev,
    row.attemptId,
    row.incarnation,
    row.dueAt,
    row.wakeAt,
    row.deadlineAt,
    row.updatedAt,
    row.finishedAt,
  ];
}

/** As SQL has it. A timer gets ready later, by a claim. */
function isReady(db: Session, { dueAt }: JobRow): 0 | 1 {
  return dueAt !== null && dueAt <= db.now() ? 1 : 0;
}

export function insertRow(db: Session, job: Job): number {
  const row = rowOf(job);
  return db.run(
    `INSERT INTO jobs (job_id, bucket, tenant_id, task, queue, lane, gate, priority, created_at, ready, state,
     ${CHANGING.join(', ')}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.jobId,
    bucketOf(row.jobId),
    row.tenantId,
    row.task,
    row.queue,
    row.lane,
    row.gate,
    row.priority,
    row.createdAt,
    isReady(db, row),
    encodeState(job),
    ...changing(row),
  ).id;
}

/** Updates the row of a job that this transaction has looked at; `before` is null if not at all of it. */
export function updateRow(db: Session, id: number, { before, job }: { before: Job | null; job: Job }): void {
  const { written, values } = changesOf(db, { before, job });
  values.push(id);
  db.run(updateOf(written), ...values);
}

/** Updates a row if it is still as this process left it and the commit's guards hold. False: it has changed nothing. */
export function updateKnown(
  db: Session,
  known: RecentRow,
  { jobId, job, attemptId, inboxRev }: CommitItem & { readonly job: Job },
): boolean {
  const changes = changesOf(db, { before: known.job, job });
  const { values } = changes;
  values.push(known.id, jobId, known.job.rev, known.job.createdAt);
  let written = changes.written | IF_KNOWN;
  if (attemptId !== null) {
    written |= IF_HOLDER;
    values.push(attemptId);
  }
  if (inboxRev !== null) {
    written |= IF_INBOX;
    values.push(inboxRev);
  }
  return db.run(updateOf(written), ...values).changes > 0;
}

/** One bit for each column that is written, in the order of CHANGING, and for each condition. */
type Written = number;
const DUE_AT = 1 << CHANGING.indexOf('due_at');
const READY = 1 << CHANGING.length;
const IF_KNOWN = READY << 1;
const IF_HOLDER = READY << 2;
const IF_INBOX = READY << 3;

/** Only what differs is written: a column that stands still costs no index anything (bench/store). */
function changesOf(
  db: Session,
  { before, job }: { before: Job | null; job: Job },
): { readonly written: Written; readonly values: SqlValue[] } {
  const row = rowOf(job);
  const was = before && changing(rowOf(before));
  const values: SqlValue[] = [encodeState(job)];
  let written = 0;
  changing(row).forEach((value, i) => {
    if (was !== null && was[i] === value) return;
    written |= 1 << i;
    values.push(value);
  });
  if (row.dueAt !== null || written & DUE_AT) {
    written |= READY;
    values.push(isReady(db, row));
  }
  return { written, values };
}

const updates = new Map<Written, string>();

/** A job that is held stays out of the claim index, whatever becomes of it. */
function updateOf(written: Written): string {
  let sql = updates.get(written);
  if (sql === undefined) {
    const set = [
      'state = ?',
      ...CHANGING.filter((_, i) => written & (1 << i)).map((column) => `${column} = ?`),
    ];
    if (written & READY) set.push('ready = ? AND NOT held');
    const where = ['id = ?'];
    if (written & IF_KNOWN) where.push('job_id = ?', 'rev = ?', 'created_at = ?');
    if (written & IF_HOLDER) where.push('attempt_id = ?', 'incarnation IS NOT NULL');
    if (written & IF_INBOX) where.push('inbox_rev = ?');
    sql = `UPDATE jobs SET ${set.join(', ')} WHERE ${where.join(' AND ')}`;
    updates.set(written, sql);
  }
  return sql;
}
