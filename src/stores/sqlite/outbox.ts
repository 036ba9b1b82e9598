import type { NewOutboxEntry, OutboxEntry, OutboxKind, OutboxOutcome, Reply } from '../../ports/store.js';
import type { Session } from './session.js';

const ENTRY = 'entry_id AS entryId, job_id AS jobId, kind, due_at AS dueAt, tries, body';

/** Entries that belong to no job. One that is there already stays as it is. */
export function putOutbox(db: Session, entries: readonly NewOutboxEntry[]): void {
  for (const { entryId, kind, dueAt, body } of entries) {
    const sql =
      'INSERT INTO outbox (entry_id, job_id, kind, due_at, body) VALUES (?, NULL, ?, ?, ?) ON CONFLICT DO NOTHING';
    db.run(sql, entryId, kind, dueAt, body);
  }
}

/** An entry that is taken falls due again when its lease ends: whoever took it may have died. */
export function takeOutbox(
  db: Session,
  { kind, limit, leaseMs }: { kind: OutboxKind; limit: number; leaseMs: number },
): Reply<{ entries: OutboxEntry[] }> {
  const now = db.now();
  const rows = db.all<OutboxEntry>(
    `SELECT ${ENTRY} FROM outbox WHERE kind = ? AND due_at <= ? ORDER BY due_at, entry_id LIMIT +?`,
    kind,
    now,
    limit,
  );
  const entries = rows.map((row) => ({ ...row, tries: row.tries + 1 }));
  for (const { entryId, tries } of entries) {
    db.run('UPDATE outbox SET due_at = ?, tries = ? WHERE entry_id = ?', now + leaseMs, tries, entryId);
  }
  return { now, entries };
}

export function settleOutbox(db: Session, outcomes: readonly OutboxOutcome[]): Reply<unknown> {
  for (const outcome of outcomes) {
    if (outcome.outcome === 'done') {
      db.run('DELETE FROM outbox WHERE entry_id = ?', outcome.entryId);
    } else {
      const dueAt = outcome.outcome === 'again' ? outcome.dueAt : null;
      db.run('UPDATE outbox SET due_at = ? WHERE entry_id = ?', dueAt, outcome.entryId);
    }
  }
  return { now: db.now() };
}

export function deadOutbox(
  db: Session,
  { kind, after = null, limit }: { kind: OutboxKind; after?: string | null; limit: number },
): Reply<{ entries: OutboxEntry[] }> {
  const rows = db.all<Omit<OutboxEntry, 'dueAt'>>(
    `SELECT ${ENTRY} FROM outbox WHERE kind = ? AND due_at IS NULL AND entry_id > ? ORDER BY entry_id LIMIT +?`,
    kind,
    after ?? '',
    limit,
  );
  return { now: db.now(), entries: rows.map((row) => ({ ...row, dueAt: 0 })) };
}
