import type { CommitItem, CommitReplies, CommitReply } from '../../ports/store.js';
import { insertDlqItem, replaceDlqItem } from './dlq.js';
import { holdNeeded, ownersOf, takeIdentities } from './identities.js';
import { FIRST_FOR_A_KEY_MS, FIRST_FOR_A_ROW_MS, patiently, type Wanted } from './lock-waits.js';
import { NOW, type Queries, type Session } from './session.js';
import {
  changes,
  LOG_COLUMNS,
  logBatch,
  NEW_COLUMNS,
  newJobs,
  OUTBOX_COLUMNS,
  outboxBatch,
  setChanged,
} from './write-rows.js';

export const SAVED: CommitReply = { ok: true, repeated: false };

export type Saved = Pick<CommitReplies, 'now' | 'told'> & { readonly reply: CommitReply };

/** Saves one commit in a transaction of its own, or says why not. */
export function saveCarefully(session: Session, item: CommitItem): Promise<Saved> {
  return patiently(session, wantedBy(item), async (db) => ({
    reply: await saveOne(db, item),
    now: await db.now(),
  }));
}

/** What a commit may have to wait for: the job's row, and the keys that it takes. */
export const wantedBy = ({ jobId, identities, rev }: CommitItem): Wanted => ({
  what: `job ${jobId} or its key`,
  names: [jobId, ...identities.map(({ tenantId, kind, value }) => `${kind} ${tenantId} ${value}`)],
  firstMs: rev === 1 ? FIRST_FOR_A_KEY_MS : FIRST_FOR_A_ROW_MS,
});

/** Within a transaction, which stays as it was if the commit is refused or fails. `lists` false: the caller lists a new job. */
export async function saveOne(db: Queries, item: CommitItem, { lists = true } = {}): Promise<CommitReply> {
  await db.rows('SAVEPOINT pawl_commit');
  try {
    const reply = await (item.rev === 1 ? create(db, item) : change(db, item));
    if (lists && isCreated(item, reply)) await listCreated(db, [item]);
    await db.rows(`${needsNoUndoing(item, reply) ? 'RELEASE' : 'ROLLBACK TO'} SAVEPOINT pawl_commit`);
    if (reply.ok || reply.code !== 'IDENTITY_TAKEN') return reply;
    const owners = await ownersOf(db, item.identities);
    // A purge came in between: they are free.
    if (owners.every((owner) => owner === null)) return await saveOne(db, item, { lists });
    return { ...reply, owners };
  } catch (error) {
    await db.rows('ROLLBACK TO SAVEPOINT pawl_commit').catch(() => undefined);
    throw error;
  }
}

/**
 * Nothing has to be undone: it is saved, or was refused before it had written anything. What an application writes on its client at
 * the same time would be undone as well.
 */
const needsNoUndoing = ({ identities }: CommitItem, reply: CommitReply): boolean =>
  reply.ok || (reply.code === 'IDENTITY_TAKEN' && identities.length === 1);

export const isCreated = ({ rev }: CommitItem, reply: CommitReply): boolean =>
  rev === 1 && reply.ok && !reply.repeated;

/** Where lists and the feed find new jobs. */
export async function listCreated(db: Queries, items: readonly CommitItem[]): Promise<void> {
  await db.rows(
    `INSERT INTO pawl.created (tenant_id, job_ids) SELECT tenant_id, array_agg(job_id)
     FROM pawl.jobs WHERE job_id = ANY($1) GROUP BY tenant_id`,
    [items.map(({ jobId }) => jobId)],
  );
}

async function create(db: Queries, item: CommitItem): Promise<CommitReply> {
  if (item.job === null) return { ok: false, code: 'REV_TAKEN' };
  if (!(await holdNeeded(db, item))) return unlessRepeated(db, item, 'JOB_GONE');
  // The keys first: whoever has taken one of them and not committed is waited for here.
  if (!(await takeIdentities(db, item))) {
    const known = await repeatedOrTaken(db, item);
    return known.ok ? known : { ok: false, code: 'IDENTITY_TAKEN', owners: [] };
  }
  if (item.dlqItem && !(await replaceDlqItem(db, item.dlqItem))) return unlessRepeated(db, item, 'DLQ_MOVED');
  const jobs = newJobs([item], { alias: 'n', first: 2 });
  const inserted = await db.rows(
    `INSERT INTO pawl.jobs (${NEW_COLUMNS}, ready) SELECT n.*, n.due_at IS NOT NULL AND n.due_at <= ${NOW} FROM ${jobs.from}
     ON CONFLICT DO NOTHING RETURNING 1`,
    [db.fixedNow(), ...jobs.values],
  );
  if (inserted.length === 0) return repeatedOrTaken(db, item);
  await writeSideRows(db, item);
  return SAVED;
}

/** Unless this very commit was saved before, and its reply got lost. */
async function unlessRepeated(
  db: Queries,
  item: CommitItem,
  code: 'DLQ_MOVED' | 'JOB_GONE',
): Promise<CommitReply> {
  const known = await repeatedOrTaken(db, item);
  return known.ok ? known : { ok: false, code };
}

type Guard = {
  readonly attempt_id: string | null;
  readonly incarnation: string | null;
  readonly inbox_rev: number;
};

async function change(db: Queries, item: CommitItem): Promise<CommitReply> {
  const { jobId, job, attemptId, inboxRev } = item;
  const [guard] = await db.rows<Guard>(
    'SELECT attempt_id, incarnation, inbox_rev FROM pawl.jobs WHERE job_id = $1 FOR UPDATE',
    [jobId],
  );
  const known = await repeatedOrTaken(db, item);
  if (known.ok || !guard) return known;
  const [rows] = await db.rows<{ free: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM pawl.history WHERE job_id = $1 AND rev = $2 - 1)
     AND NOT EXISTS (SELECT 1 FROM pawl.history WHERE job_id = $1 AND rev = $2) AS free`,
    [jobId, item.rev],
  );
  if (!rows?.free) return known;
  if (attemptId !== null && (guard.attempt_id !== attemptId || guard.incarnation === null)) {
    return { ok: false, code: 'ATTEMPT_GONE' };
  }
  if (inboxRev !== null && guard.inbox_rev !== inboxRev) return { ok: false, code: 'INBOX_MOVED' };
  if (await hasResult(db, item)) return { ok: false, code: 'RESULT_STORED' };
  if (!(await append(db, item))) return repeatedOrTaken(db, item);
  if (job !== null) {
    const { from, values } = changes([item], { alias: 'c', first: 2 });
    const sql = `UPDATE pawl.jobs j SET ${setChanged(NOW)} FROM ${from} WHERE j.job_id = c.job_id`;
    await db.rows(sql, [db.fixedNow(), ...values]);
  }
  await writeSideRows(db, item);
  return SAVED;
}

/** Whoever stores a result holds the job's row too, so none can come between. */
async function hasResult(db: Queries, { jobId, noResultOf }: CommitItem): Promise<boolean> {
  if (noResultOf === null) return false;
  const rows = await db.rows(
    `SELECT 1 FROM pawl.effects WHERE job_id = $1 AND step = $2 AND occurrence = $3 AND entry = $4 AND result IS NOT NULL`,
    [jobId, noResultOf.step, noResultOf.occurrence, noResultOf.entry],
  );
  return rows.length > 0;
}

/** False: the revision is taken, by a step record that needed no lock. */
async function append(db: Queries, item: CommitItem): Promise<boolean> {
  const log = logBatch([item], { alias: 'l', first: 1 });
  const rows = await db.rows(
    `INSERT INTO pawl.log (${LOG_COLUMNS}) SELECT l.* FROM ${log.from} ON CONFLICT DO NOTHING RETURNING 1`,
    log.values,
  );
  return rows.length > 0;
}

async function repeatedOrTaken(db: Queries, item: CommitItem): Promise<CommitReply> {
  const repeated = (await writerOf(db, item)) === item.commandId;
  return repeated ? { ok: true, repeated } : { ok: false, code: 'REV_TAKEN' };
}

/** Which command wrote the revision that this commit wants, if any did. */
async function writerOf(db: Queries, { jobId, rev }: CommitItem): Promise<string | null> {
  const [row] = await db.rows<{ command_id: string }>(
    'SELECT command_id FROM pawl.history WHERE job_id = $1 AND rev = $2',
    [jobId, rev],
  );
  return row?.command_id ?? null;
}

async function writeSideRows(db: Queries, { jobId, consumed, outbox, dlqItem }: CommitItem): Promise<void> {
  if (consumed.length > 0) {
    await db.rows('UPDATE pawl.inbox SET consumed = true WHERE job_id = $1 AND key = ANY($2)', [
      jobId,
      consumed,
    ]);
  }
  await writeOutbox(db, { jobId, outbox });
  if (dlqItem?.version === 1) await insertDlqItem(db, dlqItem);
}

/** One that lies there with the same name is of a purged job that had this id, and gives way. */
export async function writeOutbox(db: Queries, item: Pick<CommitItem, 'jobId' | 'outbox'>): Promise<void> {
  if (item.outbox.length === 0) return;
  const { from, values } = outboxBatch([item], { alias: 'o', first: 1 });
  await db.rows(
    `INSERT INTO pawl.outbox (${OUTBOX_COLUMNS}) SELECT o.* FROM ${from}
     ON CONFLICT (entry_id) DO UPDATE SET due_at = excluded.due_at, tries = 0, body = excluded.body`,
    values,
  );
}
