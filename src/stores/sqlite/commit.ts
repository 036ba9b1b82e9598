import type { Job } from '../../kernel/index.js';
import type { CommitItem, CommitReply, Identity, NewOutboxEntry } from '../../ports/store.js';
import { isTaken } from '../identity.js';
import { appendLog, appendRecord, recordAlone } from './append-log.js';
import { insertDlqItem, putDlqItem } from './dlq.js';
import type { RecentRow, Session } from './session.js';
import { insertRow, updateKnown, updateRow } from './write-row.js';
import { Overtaken, Writes } from './writes.js';

/**
 * Saves commits, in order, within one transaction. First in the hope that nothing came between: where something did,
 * none of it is saved, and each commit is looked at for itself.
 */
export function saveGroup(
  db: Session,
  items: readonly CommitItem[],
): readonly CommitReply[] | Promise<readonly CommitReply[]> {
  if (items.length === 1 && saveAlone(db, items[0] as CommitItem)) return SAVED_ALONE;
  return saveTogether(db, items);
}

async function saveTogether(db: Session, items: readonly CommitItem[]): Promise<CommitReply[]> {
  try {
    return await db.write(() => saveAll(db, items, { hopeful: true }));
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error;
    return saveEach(db, items);
  }
}

/** Saves commits, in order, within one transaction, and looks at each for itself: it may have been saved already. */
export function saveEach(db: Session, items: readonly CommitItem[]): Promise<CommitReply[]> {
  return db.write(() => saveAll(db, items, { hopeful: false }));
}

export const SAVED: CommitReply = { ok: true, repeated: false };
const SAVED_ALONE: readonly CommitReply[] = [SAVED];

/**
 * Saves a step record of a job whose row this process wrote last, if it is nothing but a row of the log: the statement is its own transaction.
 * Steps that follow each other wait for this and nothing else. False: it is another commit, or something came between.
 */
function saveAlone(db: Session, item: CommitItem): boolean {
  const known = db.recent.get(item.jobId);
  if (known?.head !== item.rev - 1 || item.job !== null || !isPlainRecord(item)) return false;
  if (item.noResultOf !== null || item.dlqItem !== null) return false;
  if (item.outbox.length + item.consumed.length + item.identities.length > 0) return false;
  if (!recordAlone(db, known.id, item)) return false;
  remember(db, known.id, item);
  return true;
}

/** Saves one commit within a transaction that is open already. */
export function saveWithin(db: Session, item: CommitItem): CommitReply {
  return saveAll(db, [item], { hopeful: false })[0] as CommitReply;
}

function saveAll(
  db: Session,
  items: readonly CommitItem[],
  { hopeful }: { hopeful: boolean },
): CommitReply[] {
  const writes = new Writes(db, { isForOne: hopeful && items.length === 1, hopeful });
  const replies = items.map((item) => {
    if (item.rev === 1) return create(db, writes, { item, hopeful });
    return (hopeful && changeKnown(db, writes, item)) || change(db, writes, item);
  });
  writes.flush();
  return replies;
}

/**
 * Saves one commit of a job whose row this process wrote last, found by that row: three index look-ups less, and many
 * such commits together. If anything has changed meanwhile, the guards undo the transaction. Null: it is no such job.
 */
function changeKnown(db: Session, writes: Writes, item: CommitItem): CommitReply | null {
  const known = db.recent.get(item.jobId);
  if (known?.head !== item.rev - 1 || item.noResultOf !== null) return null;
  const { id, job: before } = known;
  const isCertain = item.inboxRev === null && isAsKnown(db, known, item);
  if (item.job !== null) {
    if (isCertain) updateRow(db, writes, { id, before, job: item.job });
    else updateKnown(db, writes, { known, item, job: item.job });
    appendLog(writes, id, item);
  } else if (isCertain) appendLog(writes, id, item);
  else if (isPlainRecord(item)) appendRecord(writes, id, item);
  else return null;
  return saved(db, id, item, { hopeful: true });
}

/**
 * Nobody else has written to the file since this process wrote down what it knows of the job, so that is how the job stands, and there
 * is nothing to look up again: half of what a step record costs in a group (decision 53).
 */
function isAsKnown(db: Session, { version, job }: RecentRow, { attemptId }: CommitItem): boolean {
  if (version !== db.version) return false;
  return attemptId === null || (job.attemptId === attemptId && job.worker !== null);
}

const isPlainRecord = (item: CommitItem): item is CommitItem & { attemptId: string } =>
  item.attemptId !== null && item.inboxRev === null;

/** Saves one commit of a job, or finds out why not. A refusal has written nothing. */
function change(db: Session, writes: Writes, item: CommitItem): CommitReply {
  writes.flush();
  if (hasResult(db, item)) return explain(db, item, 'RESULT_STORED');
  const logged = db.get<{ job: number }>(
    `INSERT INTO log (job, rev, command_id, body, link)
     SELECT id, ?2, ?3, ?4, ?5 FROM jobs WHERE job_id = ?1
     AND EXISTS (SELECT 1 FROM log WHERE job = id AND rev = ?2 - 1)
     AND (?6 IS NULL OR (attempt_id = ?6 AND incarnation IS NOT NULL)) AND (?7 IS NULL OR inbox_rev = ?7)
     ON CONFLICT DO NOTHING RETURNING job`,
    item.jobId,
    item.rev,
    item.commandId,
    item.body,
    item.link,
    item.attemptId,
    item.inboxRev,
  );
  if (!logged) return explain(db, item);
  if (item.job !== null) updateRow(db, writes, { id: logged.job, before: null, job: item.job });
  return saved(db, logged.job, item, { hopeful: false });
}

export type NewClaim = { readonly id: number; readonly before: Job; readonly item: CommitItem };

/**
 * Saves claims of jobs that were found, within the same transaction, as nobody else's. In the order of their rows, which
 * is not that of their turns: rows grow by a claim, and pages that grow here and there split (decision 21).
 */
export function saveClaims(db: Session, claims: readonly NewClaim[]): void {
  const writes = new Writes(db);
  for (const { id, before, item } of claims.toSorted((a, b) => a.id - b.id)) {
    if (item.job !== null) updateRow(db, writes, { id, before, job: item.job });
    appendLog(writes, id, item);
    saved(db, id, item, { hopeful: false });
  }
  writes.flush();
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

function saved(db: Session, id: number, item: CommitItem, { hopeful }: { hopeful: boolean }): CommitReply {
  remember(db, id, item);
  writeSideRows(db, id, item);
  for (const entry of item.outbox) post(db, item.jobId, entry, { hopeful });
  return SAVED;
}

/** After a step record the row is what it was, and only the log goes further. */
function remember(db: Session, id: number, { jobId, rev, job, link }: CommitItem): void {
  if (!db.recent.isUseful) return;
  if (job !== null) {
    db.recent.set(jobId, { id, job, link, head: rev, version: db.version });
    return;
  }
  const known = db.recent.get(jobId);
  if (known?.head === rev - 1) db.recent.set(jobId, { ...known, head: rev });
}

/** Saves the first commit of a job, or finds out why not. In hope, the key of its row tells whether it is there already. */
function create(
  db: Session,
  writes: Writes,
  { item, hopeful }: { item: CommitItem; hopeful: boolean },
): CommitReply {
  const owners = item.identities.map((identity) => ownerOf(db, identity));
  const mayBeRefused = item.dlqItem !== null || item.identities.some(({ needs }) => needs !== undefined);
  const mayBeThere = !hopeful || mayBeRefused || owners.includes(item.jobId);
  if (mayBeThere) {
    writes.flush();
    const there = idOf(db, item.jobId) === null ? null : explain(db, item);
    if (there && (there.ok || !isTaken(item.identities, owners))) return there;
  }
  if (isTaken(item.identities, owners)) return { ok: false, code: 'IDENTITY_TAKEN', owners };
  if (item.identities.some(({ needs }) => needs !== undefined && idOf(db, needs) === null))
    return { ok: false, code: 'JOB_GONE' };
  if (item.job === null) return { ok: false, code: 'REV_TAKEN' };
  if (item.dlqItem && !putDlqItem(db, item.dlqItem).saved) return { ok: false, code: 'DLQ_MOVED' };
  const id = insertRow(db, writes, item.job);
  appendLog(writes, id, item);
  if (!hopeful) writes.flush();
  return saved(db, id, item, { hopeful });
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
  const { jobId, identities, consumed, dlqItem } = item;
  for (const { tenantId, kind, value } of identities) {
    const sql = `INSERT INTO identities (tenant_id, kind, value, job_id) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET job_id = excluded.job_id, expires_at = NULL`;
    db.run(sql, tenantId, kind, value, jobId);
  }
  for (const key of consumed) {
    db.run('UPDATE inbox SET consumed = 1 WHERE job = ? AND key = ?', id, key);
  }
  // Its job has ended meanwhile, which in hope the fences would tell only later.
  if (dlqItem?.version === 1 && !insertDlqItem(db, dlqItem)) throw new Overtaken();
}

/**
 * Puts a letter into the outbox. Where one lies that has its name, this commit may have been saved already, or another
 * instead of it; if it is known not to be so, the letter is of a purged job that had this id, and gives way.
 */
function post(
  db: Session,
  jobId: string,
  { entryId, kind, dueAt, body }: NewOutboxEntry,
  { hopeful }: { hopeful: boolean },
): void {
  const sql = `INSERT INTO outbox (entry_id, job_id, kind, due_at, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT ${
    hopeful ? 'DO NOTHING' : 'DO UPDATE SET due_at = excluded.due_at, tries = 0, body = excluded.body'
  }`;
  const { changes } = db.run(sql, entryId, jobId, kind, dueAt, body);
  if (changes === 0) throw new Overtaken();
}
