import type { CommitItem, CommitReply, Identity } from '../../ports/store.js';
import type { Queries, Session } from './session.js';
import { appendLog, insertJobs, updateJobs } from './write-rows.js';

const SAVED: CommitReply = { ok: true, repeated: false };

/** Part of a batch cannot be saved as it is: the batch is rolled back and its items are sent one by one. */
class Conflict extends Error {}

/** Saves a group of commits in one transaction, or singly where one of them stands in the way of the rest. */
export async function saveGroup(session: Session, items: readonly CommitItem[]): Promise<CommitReply[]> {
  const jobs = new Set(items.map(({ jobId }) => jobId));
  if (jobs.size === items.length) {
    try {
      return await session.transaction((db) => save(db, items));
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }
  const replies: CommitReply[] = [];
  for (const item of items) replies.push(await saveSingly(session, item));
  return replies;
}

async function saveSingly(session: Session, item: CommitItem): Promise<CommitReply> {
  try {
    const [reply = SAVED] = await session.transaction((db) => save(db, [item]));
    return reply;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const owners = await ownersOf(session.single, item.identities);
    return { ok: false, code: 'IDENTITY_TAKEN', owners };
  }
}

/** Within a transaction. Items are of different jobs; rows are locked in the order of their ids. */
async function save(db: Queries, items: readonly CommitItem[]): Promise<CommitReply[]> {
  const refused = new Map<string, CommitReply>();
  const existing = items.filter(({ rev, job }) => rev > 1 && job !== null);
  const guards = existing.length > 0 ? await lock(db, existing) : new Map<string, Guard>();
  for (const item of existing) {
    const reply = judge(item, guards.get(item.jobId));
    if (reply) refused.set(item.jobId, reply);
  }
  const open = items.filter(({ jobId }) => !refused.has(jobId));
  const appended = open.length > 0 ? await appendLog(db, open) : new Set<string>();
  const saved = open.filter(({ jobId }) => appended.has(jobId));
  await writeJobs(db, saved);

  const writers = await writersOf(
    db,
    items.filter(({ jobId }) => !appended.has(jobId)),
  );
  return items.map(({ jobId, commandId }) => {
    if (appended.has(jobId)) return SAVED;
    const writer = writers.get(jobId);
    if (writer === commandId) return { ok: true, repeated: true };
    return (writer === undefined && refused.get(jobId)) || { ok: false, code: 'REV_TAKEN' };
  });
}

async function writeJobs(db: Queries, saved: readonly CommitItem[]): Promise<void> {
  const created = saved.filter(({ rev }) => rev === 1).flatMap(({ job }) => job ?? []);
  if (created.length > 0) {
    const inserted = await insertJobs(db, created);
    if (inserted.size < created.length) throw new Conflict('a job exists without its log');
  }
  await updateJobs(
    db,
    saved.filter(({ rev }) => rev > 1).flatMap(({ job }) => job ?? []),
  );
  await own(db, saved);
  for (const { jobId, consumed } of saved.filter((item) => item.consumed.length > 0)) {
    await db.rows('UPDATE pawl.inbox SET consumed = true WHERE job_id = $1 AND key = ANY($2)', [
      jobId,
      consumed,
    ]);
  }
  for (const item of saved.flatMap(({ dlqItem }) => dlqItem ?? [])) {
    await db.rows(
      'INSERT INTO pawl.dlq_items (dlq_id, job_id, tenant_id, status, created_at, item) VALUES ($1, $2, $3, $4, $5, $6)',
      [item.dlqId, item.jobId, item.tenantId, item.status, item.createdAt, JSON.stringify(item)],
    );
  }
}

type Guard = {
  readonly attempt_id: string | null;
  readonly incarnation: string | null;
  readonly inbox_rev: number;
};

async function lock(db: Queries, items: readonly CommitItem[]): Promise<Map<string, Guard>> {
  const rows = await db.rows<Guard & { job_id: string }>(
    'SELECT job_id, attempt_id, incarnation, inbox_rev FROM pawl.jobs WHERE job_id = ANY($1) ORDER BY job_id FOR UPDATE',
    [items.map(({ jobId }) => jobId)],
  );
  return new Map(rows.map((row) => [row.job_id, row]));
}

function judge({ attemptId, inboxRev }: CommitItem, guard: Guard | undefined): CommitReply | null {
  if (!guard) return { ok: false, code: 'REV_TAKEN' };
  if (attemptId !== null && (guard.attempt_id !== attemptId || guard.incarnation === null)) {
    return { ok: false, code: 'ATTEMPT_GONE' };
  }
  return inboxRev !== null && guard.inbox_rev !== inboxRev ? { ok: false, code: 'INBOX_MOVED' } : null;
}

/** Which command wrote the revision that each of these commits wanted, where there is one. */
async function writersOf(db: Queries, items: readonly CommitItem[]): Promise<Map<string, string>> {
  if (items.length === 0) return new Map();
  const rows = await db.rows<{ job_id: string; command_id: string }>(
    `SELECT l.job_id, l.command_id FROM pawl.log l JOIN unnest($1::text[], $2::int[]) AS i (job_id, rev)
     ON l.job_id = i.job_id AND l.rev = i.rev`,
    [items.map(({ jobId }) => jobId), items.map(({ rev }) => rev)],
  );
  return new Map(rows.map(({ job_id, command_id }) => [job_id, command_id]));
}

/** Takes identities, in sorted order so that two starts cannot wait for each other. */
async function own(db: Queries, saved: readonly CommitItem[]): Promise<void> {
  const wanted = saved
    .flatMap(({ jobId, identities }) => identities.map((identity) => ({ jobId, ...identity })))
    .toSorted((a, b) =>
      JSON.stringify([a.tenantId, a.kind, a.value]) < JSON.stringify([b.tenantId, b.kind, b.value]) ? -1 : 1,
    );
  if (wanted.length === 0) return;
  const taken = await db.rows(
    `INSERT INTO pawl.identities (tenant_id, kind, value, job_id)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) ON CONFLICT DO NOTHING RETURNING 1`,
    [
      wanted.map(({ tenantId }) => tenantId),
      wanted.map(({ kind }) => kind),
      wanted.map(({ value }) => value),
      wanted.map(({ jobId }) => jobId),
    ],
  );
  if (taken.length < wanted.length) throw new Conflict('an identity is taken');
}

export async function ownersOf(db: Queries, identities: readonly Identity[]): Promise<(string | null)[]> {
  const rows = await db.rows<Identity & { tenant_id: string; job_id: string }>(
    `SELECT tenant_id, kind, value, job_id FROM pawl.identities
     WHERE (tenant_id, kind, value) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))`,
    [
      identities.map(({ tenantId }) => tenantId),
      identities.map(({ kind }) => kind),
      identities.map(({ value }) => value),
    ],
  );
  return identities.map(
    ({ tenantId, kind, value }) =>
      rows.find((row) => row.tenant_id === tenantId && row.kind === kind && row.value === value)?.job_id ??
      null,
  );
}
