import type { NewOutboxEntry, OutboxEntry, OutboxKind, OutboxOutcome, Reply } from '../../ports/store.js';
import type { Queries } from './session.js';
import { OUTBOX_COLUMNS, outboxBatch } from './write-rows.js';

const ENTRY = 'entry_id AS "entryId", job_id AS "jobId", kind, due_at AS "dueAt", tries, body';

/** Entries that belong to no job. One that is there already stays as it is. */
export async function putOutbox(db: Queries, entries: readonly NewOutboxEntry[]): Promise<void> {
  const { from, values } = outboxBatch([{ jobId: null, outbox: entries }], { alias: 'o', first: 1 });
  await db.rows(
    `INSERT INTO pawl.outbox (${OUTBOX_COLUMNS}) SELECT o.* FROM ${from} ON CONFLICT DO NOTHING`,
    values,
  );
}

/** An entry that is taken falls due again when its lease ends: whoever took it may have died. */
export async function takeOutbox(
  db: Queries,
  { kind, limit, leaseMs }: { kind: OutboxKind; limit: number; leaseMs: number },
): Promise<Reply<{ entries: OutboxEntry[] }>> {
  const now = await db.now();
  const entries = await db.rows<OutboxEntry>(
    `WITH due AS (SELECT ${ENTRY} FROM pawl.outbox WHERE kind = $4 AND due_at <= $1 ORDER BY due_at, entry_id LIMIT $2 FOR UPDATE SKIP LOCKED),
     taken AS (UPDATE pawl.outbox SET due_at = $1 + $3, tries = tries + 1 WHERE entry_id IN (SELECT "entryId" FROM due))
     SELECT "entryId", "jobId", kind, "dueAt", tries + 1 AS tries, body FROM due ORDER BY "dueAt", "entryId"`,
    [now, limit, leaseMs, kind],
  );
  return { now, entries };
}

export async function settleOutbox(db: Queries, outcomes: readonly OutboxOutcome[]): Promise<Reply<unknown>> {
  const done = outcomes.filter(({ outcome }) => outcome === 'done');
  const rest = outcomes.filter(({ outcome }) => outcome !== 'done');
  await db.rows('DELETE FROM pawl.outbox WHERE entry_id = ANY($1)', [done.map(({ entryId }) => entryId)]);
  await db.rows(
    `UPDATE pawl.outbox o SET due_at = i.due_at FROM unnest($1::text[], $2::bigint[]) AS i (entry_id, due_at)
     WHERE o.entry_id = i.entry_id`,
    [
      rest.map(({ entryId }) => entryId),
      rest.map((settled) => (settled.outcome === 'again' ? settled.dueAt : null)),
    ],
  );
  return { now: await db.now() };
}

export async function deadOutbox(
  db: Queries,
  { kind, after = null, limit }: { kind: OutboxKind; after?: string | null; limit: number },
): Promise<Reply<{ entries: OutboxEntry[] }>> {
  const rows = await db.rows<OutboxEntry>(
    `SELECT ${ENTRY} FROM pawl.outbox WHERE kind = $2 AND due_at IS NULL AND entry_id > $3 ORDER BY entry_id LIMIT $1`,
    [limit, kind, after ?? ''],
  );
  return { now: await db.now(), entries: rows.map((row) => ({ ...row, dueAt: 0 })) };
}
