import { bucketOf, rowOf, type Job, type JobRow } from '../../kernel/index.js';
import type { CommitItem, CommitReply, Identity } from '../../ports/store.js';
import { encodeState } from '../job-state.js';
import type { SqlValue } from './driver.js';
import type { Session } from './session.js';

/** Saves one commit within an open transaction, or finds out why not. A refusal has written nothing. */
export function save(db: Session, item: CommitItem): CommitReply {
  if (item.rev === 1) return create(db, item);
  const { changes } = db.run(
    `INSERT INTO log (job, rev, command_id, body, link)
     SELECT id, ?2, ?3, ?4, ?5 FROM jobs WHERE job_id = ?1
     AND EXISTS (SELECT 1 FROM log WHERE job = id AND rev = ?2 - 1)
     AND (?6 IS NULL OR (attempt_id = ?6 AND incarnation IS NOT NULL)) AND (?7 IS NULL OR inbox_rev = ?7)
     ON CONFLICT DO NOTHING`,
    item.jobId,
    item.rev,
    item.commandId,
    item.body,
    item.link,
    item.attemptId,
    item.inboxRev,
  );
  if (changes === 0) return explain(db, item);
  if (item.job !== null) updateRow(db, item.job, { where: 'job_id', is: item.jobId });
  writeSideRows(db, item);
  return { ok: true, repeated: false };
}

/** Saves a claim of a job that was found, within the same transaction, as nobody else's. */
export function saveClaim(db: Session, id: number, item: CommitItem): void {
  append(db, id, item);
  if (item.job !== null) updateRow(db, item.job, { where: 'id', is: id });
}

function append(db: Session, id: number, { rev, commandId, body, link }: CommitItem): void {
  const sql = 'INSERT INTO log (job, rev, command_id, body, link) VALUES (?, ?, ?, ?, ?)';
  db.run(sql, id, rev, commandId, body, link);
}

function create(db: Session, item: CommitItem): CommitReply {
  const known = db.get('SELECT 1 FROM jobs WHERE job_id = ?', item.jobId);
  if (known !== undefined) return explain(db, item);
  const owners = item.identities.map((identity) => ownerOf(db, identity));
  if (owners.some((owner) => owner !== null)) return { ok: false, code: 'IDENTITY_TAKEN', owners };
  if (item.job === null) return { ok: false, code: 'REV_TAKEN' };
  append(db, insertRow(db, item.job), item);
  writeSideRows(db, item);
  return { ok: true, repeated: false };
}

type Guards = {
  readonly attempt_id: string | null;
  readonly incarnation: string | null;
  readonly command_id: string | null;
  readonly before: number | null;
};

/** Why a commit was not saved: it had been already, something came between, or a guard held. */
function explain(db: Session, { jobId, rev, commandId, attemptId }: CommitItem): CommitReply {
  const job = db.get<Guards>(
    `SELECT attempt_id, incarnation, (SELECT command_id FROM log WHERE job = id AND rev = ?2) AS command_id,
     (SELECT rev FROM log WHERE job = id AND rev = ?2 - 1) AS before FROM jobs WHERE job_id = ?1`,
    jobId,
    rev,
  );
  if (job?.command_id === commandId) return { ok: true, repeated: true };
  if (!job || job.command_id !== null || (job.before === null && rev > 1))
    return { ok: false, code: 'REV_TAKEN' };
  const gone = attemptId !== null && (job.attempt_id !== attemptId || job.incarnation === null);
  return { ok: false, code: gone ? 'ATTEMPT_GONE' : 'INBOX_MOVED' };
}

export function ownerOf(db: Session, { tenantId, kind, value }: Identity): string | null {
  const sql = 'SELECT job_id FROM identities WHERE tenant_id = ? AND kind = ? AND value = ?';
  return db.get<{ job_id: string }>(sql, tenantId, kind, value)?.job_id ?? null;
}

function writeSideRows(db: Session, { jobId, identities, consumed, dlqItem }: CommitItem): void {
  for (const { tenantId, kind, value } of identities) {
    db.run(
      'INSERT INTO identities (tenant_id, kind, value, job_id) VALUES (?, ?, ?, ?)',
      tenantId,
      kind,
      value,
      jobId,
    );
  }
  for (const key of consumed) {
    db.run(
      'UPDATE inbox SET consumed = 1 WHERE job = (SELECT id FROM jobs WHERE job_id = ?) AND key = ?',
      jobId,
      key,
    );
  }
  if (dlqItem) {
    db.run(
      'INSERT INTO dlq_items (dlq_id, job_id, tenant_id, status, created_at, item) VALUES (?, ?, ?, ?, ?, ?)',
      dlqItem.dlqId,
      jobId,
      dlqItem.tenantId,
      dlqItem.status,
      dlqItem.createdAt,
      JSON.stringify(dlqItem),
    );
  }
}

function insertRow(db: Session, job: Job): number {
  const { jobId, tenantId, task, queue, lane, priority, createdAt, ...row } = rowOf(job);
  return db.run(
    `INSERT INTO jobs (job_id, bucket, tenant_id, task, queue, lane, priority, created_at,
     status, rev, attempt_id, incarnation, due_at, wake_at, deadline_at, updated_at, finished_at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    jobId,
    bucketOf(jobId),
    tenantId,
    task,
    queue,
    lane,
    priority,
    createdAt,
    ...changing(row),
    encodeState(job),
  ).id;
}

function updateRow(db: Session, job: Job, { where, is }: { where: 'id' | 'job_id'; is: SqlValue }): void {
  db.run(
    `UPDATE jobs SET status = ?, rev = ?, attempt_id = ?, incarnation = ?, due_at = ?, wake_at = ?, deadline_at = ?,
     updated_at = ?, finished_at = ?, state = ? WHERE ${where} = ?`,
    ...changing(rowOf(job)),
    encodeState(job),
    is,
  );
}

type Changing = Pick<
  JobRow,
  | 'status'
  | 'rev'
  | 'attemptId'
  | 'incarnation'
  | 'dueAt'
  | 'wakeAt'
  | 'deadlineAt'
  | 'updatedAt'
  | 'finishedAt'
>;

function changing(row: Changing): SqlValue[] {
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
