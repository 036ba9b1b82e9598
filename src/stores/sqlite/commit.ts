import { bucketOf, rowOf, type Job } from '../../kernel/index.js';
import type { CommitItem, CommitReply, Identity } from '../../ports/store.js';
import { encodeState } from '../job-state.js';
import type { SqlValue } from './driver.js';
import type { Session } from './session.js';

/**
 * Saves one commit within an open transaction, or finds out why not. A refusal has written nothing.
 *
 * A job whose row this process wrote last is found by that row: three index look-ups less, which is half the cost of
 * finishing a job (bench/store.ts). Whatever has changed meanwhile is noticed by the guards.
 */
export function save(db: Session, item: CommitItem): CommitReply {
  if (item.rev === 1) return create(db, item);
  if (hasResult(db, item)) return explain(db, item, 'RESULT_STORED');
  const known = db.rows.get(item.jobId);
  if (item.job !== null && known?.rev === item.rev - 1 && updateKnown(db, known.id, item)) {
    append(db, known.id, item);
    return saved(db, known.id, item);
  }
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
  const id = known?.id ?? idOf(db, item.jobId) ?? 0;
  if (item.job !== null) updateRow(db, item.job, id);
  return saved(db, id, item);
}

/** Saves a claim of a job that was found, within the same transaction, as nobody else's. */
export function saveClaim(db: Session, id: number, item: CommitItem): void {
  append(db, id, item);
  if (item.job !== null) updateRow(db, item.job, id);
  db.rows.set(item.jobId, { id, rev: item.rev });
}

export function idOf(db: Session, jobId: string): number | null {
  return db.get<{ id: number }>('SELECT id FROM jobs WHERE job_id = ?', jobId)?.id ?? null;
}

function hasResult(db: Session, { jobId, noResultOf }: CommitItem): boolean {
  if (noResultOf === null) return false;
  const stored = db.get(
    `SELECT 1 FROM effects WHERE job = (SELECT id FROM jobs WHERE job_id = ?) AND step = ? AND occurrence = ? AND entry = ?
     AND result IS NOT NULL`,
    jobId,
    noResultOf.step,
    noResultOf.occurrence,
    noResultOf.entry,
  );
  return stored !== undefined;
}

function saved(db: Session, id: number, item: CommitItem): CommitReply {
  if (item.job !== null) db.rows.set(item.jobId, { id, rev: item.rev });
  writeSideRows(db, id, item);
  return { ok: true, repeated: false };
}

function append(db: Session, id: number, { rev, commandId, body, link, identities }: CommitItem): void {
  const owns = identities.length === 0 ? null : JSON.stringify(identities);
  const sql = 'INSERT INTO log (job, rev, command_id, body, link, owns) VALUES (?, ?, ?, ?, ?, ?)';
  db.run(sql, id, rev, commandId, body, link, owns);
}

function create(db: Session, item: CommitItem): CommitReply {
  if (idOf(db, item.jobId) !== null) return explain(db, item);
  const owners = item.identities.map((identity) => ownerOf(db, identity));
  if (owners.some((owner) => owner !== null)) return { ok: false, code: 'IDENTITY_TAKEN', owners };
  if (item.job === null) return { ok: false, code: 'REV_TAKEN' };
  const id = insertRow(db, item.job);
  append(db, id, item);
  return saved(db, id, item);
}

type Guards = {
  readonly attempt_id: string | null;
  readonly incarnation: string | null;
  readonly command_id: string | null;
  readonly before: number | null;
};

/** Why a commit was not saved: it had been already, something came between, or a guard held. */
function explain(
  db: Session,
  { jobId, rev, commandId, attemptId }: CommitItem,
  otherwise: 'INBOX_MOVED' | 'RESULT_STORED' = 'INBOX_MOVED',
): CommitReply {
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
  return { ok: false, code: gone ? 'ATTEMPT_GONE' : otherwise };
}

export function ownerOf(db: Session, { tenantId, kind, value }: Identity): string | null {
  const sql = 'SELECT job_id FROM identities WHERE tenant_id = ? AND kind = ? AND value = ?';
  return db.get<{ job_id: string }>(sql, tenantId, kind, value)?.job_id ?? null;
}

function writeSideRows(db: Session, id: number, item: CommitItem): void {
  const { jobId, identities, consumed, dlqItem, outbox } = item;
  for (const { tenantId, kind, value } of identities) {
    const sql = 'INSERT INTO identities (tenant_id, kind, value, job_id) VALUES (?, ?, ?, ?)';
    db.run(sql, tenantId, kind, value, jobId);
  }
  for (const key of consumed) {
    db.run('UPDATE inbox SET consumed = 1 WHERE job = ? AND key = ?', id, key);
  }
  for (const { entryId, kind, dueAt, body } of outbox) {
    const sql = 'INSERT INTO outbox (entry_id, job_id, kind, due_at, body) VALUES (?, ?, ?, ?, ?)';
    db.run(sql, entryId, jobId, kind, dueAt, body);
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
  const row = rowOf(job);
  return db.run(
    `INSERT INTO jobs (job_id, bucket, tenant_id, task, queue, lane, gate, priority, created_at,
     status, rev, attempt_id, incarnation, due_at, ready, wake_at, deadline_at, updated_at, finished_at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.jobId,
    bucketOf(row.jobId),
    row.tenantId,
    row.task,
    row.queue,
    row.lane,
    row.gate,
    row.priority,
    row.createdAt,
    ...changing(db, job),
  ).id;
}

/** A job that is held stays out of the claim index, whatever becomes of it. */
const SET_CHANGING = `SET status = ?, rev = ?, attempt_id = ?, incarnation = ?, due_at = ?, ready = ? AND NOT held,
   wake_at = ?, deadline_at = ?, updated_at = ?, finished_at = ?, state = ?`;

function updateRow(db: Session, job: Job, id: number): void {
  db.run(`UPDATE jobs ${SET_CHANGING} WHERE id = ?`, ...changing(db, job), id);
}

/** False: the row has gone on, or a guard does not hold. */
function updateKnown(db: Session, id: number, { jobId, rev, job, attemptId, inboxRev }: CommitItem): boolean {
  if (job === null) return false;
  const { changes } = db.run(
    `UPDATE jobs ${SET_CHANGING} WHERE id = ?12 AND job_id = ?13 AND rev = ?14 - 1
     AND (?15 IS NULL OR (attempt_id = ?15 AND incarnation IS NOT NULL)) AND (?16 IS NULL OR inbox_rev = ?16)
     AND NOT EXISTS (SELECT 1 FROM log WHERE job = ?12 AND log.rev = ?14)`,
    ...changing(db, job),
    id,
    jobId,
    rev,
    attemptId,
    inboxRev,
  );
  return changes > 0;
}

/** The columns that change with a job, in the order in which all three statements take them. */
function changing(db: Session, job: Job): SqlValue[] {
  const row = rowOf(job);
  return [
    row.status,
    row.rev,
    row.attemptId,
    row.incarnation,
    row.dueAt,
    row.dueAt !== null && row.dueAt <= db.now() ? 1 : 0,
    row.wakeAt,
    row.deadlineAt,
    row.updatedAt,
    row.finishedAt,
    encodeState(job),
  ];
}
