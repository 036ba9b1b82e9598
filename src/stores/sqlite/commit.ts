import { bucketOf, rowOf } from '../../kernel/index.js';
import type { CommitItem, CommitReply, Identity } from '../../ports/store.js';
import { encodeState } from '../job-state.js';
import type { Session } from './session.js';

type Guards = {
  readonly id: number;
  readonly head: number;
  readonly attempt_id: string | null;
  readonly incarnation: string | null;
  readonly inbox_rev: number;
};

/** Saves one commit within an open transaction. All guards are read first, so that a refusal has written nothing. */
export function save(db: Session, item: CommitItem): CommitReply {
  const job = db.get<Guards>(
    `SELECT id, attempt_id, incarnation, inbox_rev, (SELECT max(rev) FROM log WHERE job = jobs.id) AS head
     FROM jobs WHERE job_id = ?`,
    item.jobId,
  );
  const head = job?.head ?? 0;
  if (item.rev <= head) return judgeRepeat(db, item, job?.id ?? 0);
  if (item.rev > head + 1) return { ok: false, code: 'REV_TAKEN' };
  const owners = item.identities.map((identity) => ownerOf(db, identity));
  if (owners.some((owner) => owner !== null)) return { ok: false, code: 'IDENTITY_TAKEN', owners };
  if (job && item.attemptId !== null && (job.attempt_id !== item.attemptId || job.incarnation === null)) {
    return { ok: false, code: 'ATTEMPT_GONE' };
  }
  if (job && item.inboxRev !== null && job.inbox_rev !== item.inboxRev)
    return { ok: false, code: 'INBOX_MOVED' };

  write(db, item, job?.id ?? null);
  return { ok: true, repeated: false };
}

export function ownerOf(db: Session, { tenantId, kind, value }: Identity): string | null {
  const sql = 'SELECT job_id FROM identities WHERE tenant_id = ? AND kind = ? AND value = ?';
  return db.get<{ job_id: string }>(sql, tenantId, kind, value)?.job_id ?? null;
}

/** The revision exists. If this very command made it, its first answer is given again. */
function judgeRepeat(db: Session, { rev, commandId }: CommitItem, id: number): CommitReply {
  const there = db.get<{ command_id: string }>(
    'SELECT command_id FROM log WHERE job = ? AND rev = ?',
    id,
    rev,
  );
  return there?.command_id === commandId ? { ok: true, repeated: true } : { ok: false, code: 'REV_TAKEN' };
}

function write(db: Session, item: CommitItem, known: number | null): void {
  const id = item.job === null ? known : writeRow(db, item, known);
  if (id === null) return;
  const { rev, commandId, body, link } = item;
  db.run(
    'INSERT INTO log (job, rev, command_id, body, link) VALUES (?, ?, ?, ?, ?)',
    id,
    rev,
    commandId,
    body,
    link,
  );
  for (const { tenantId, kind, value } of item.identities) {
    db.run(
      'INSERT INTO identities (tenant_id, kind, value, job_id) VALUES (?, ?, ?, ?)',
      tenantId,
      kind,
      value,
      item.jobId,
    );
  }
  for (const key of item.consumed) db.run('UPDATE inbox SET consumed = 1 WHERE job = ? AND key = ?', id, key);
  if (item.dlqItem) {
    const { dlqId, jobId, tenantId, status, createdAt } = item.dlqItem;
    db.run(
      'INSERT INTO dlq_items (dlq_id, job_id, tenant_id, status, created_at, item) VALUES (?, ?, ?, ?, ?, ?)',
      dlqId,
      jobId,
      tenantId,
      status,
      createdAt,
      JSON.stringify(item.dlqItem),
    );
  }
}

function writeRow(db: Session, { job }: CommitItem, known: number | null): number | null {
  if (job === null) return known;
  const row = rowOf(job);
  const changing = [
    row.status,
    row.rev,
    row.attemptId,
    row.incarnation,
    row.dueAt,
    row.wakeAt,
    row.deadlineAt,
    row.updatedAt,
    row.finishedAt,
    encodeState(job),
  ];
  if (known !== null) {
    db.run(
      `UPDATE jobs SET status = ?, rev = ?, attempt_id = ?, incarnation = ?, due_at = ?, wake_at = ?, deadline_at = ?,
       updated_at = ?, finished_at = ?, state = ? WHERE id = ?`,
      ...changing,
      known,
    );
    return known;
  }
  const fixed = [
    row.jobId,
    bucketOf(row.jobId),
    row.tenantId,
    row.task,
    row.queue,
    row.lane,
    row.priority,
    row.createdAt,
  ];
  return db.run(
    `INSERT INTO jobs (job_id, bucket, tenant_id, task, queue, lane, priority, created_at,
     status, rev, attempt_id, incarnation, due_at, wake_at, deadline_at, updated_at, finished_at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...fixed,
    ...changing,
  ).id;
}
