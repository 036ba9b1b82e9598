import type { EffectResult, Message, NewMessage, Reply } from '../../ports/store.js';
import { idOf } from './commit.js';
import type { Session } from './session.js';

export function putEffect(
  db: Session,
  { jobId, step, occurrence, entry, result }: EffectResult,
): Reply<{ first: boolean }> {
  const now = db.now();
  const id = idOf(db, jobId);
  if (id === null) return { now, first: false };
  const { changes } = db.run(
    `INSERT INTO effects (job, step, occurrence, entry, result) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET result = excluded.result WHERE effects.result IS NULL AND excluded.result IS NOT NULL`,
    id,
    step,
    occurrence,
    entry,
    result,
  );
  return { now, first: changes > 0 };
}

export function effects(db: Session, jobId: string): Reply<{ results: EffectResult[] }> {
  const rows = db.all<Omit<EffectResult, 'jobId'>>(
    `SELECT step, occurrence, entry, result FROM effects WHERE job = ? ORDER BY step, occurrence, entry`,
    idOf(db, jobId) ?? -1,
  );
  return {
    now: db.now(),
    results: rows.map(({ step, occurrence, entry, result }) => ({ jobId, step, occurrence, entry, result })),
  };
}

export function putMessage(
  db: Session,
  { jobId, key, payload }: NewMessage,
): Reply<{ outcome: 'kept' | 'repeated' | 'no job' }> {
  const now = db.now();
  const id = idOf(db, jobId);
  if (id === null) return { now, outcome: 'no job' };
  const sql = 'INSERT INTO inbox (job, key, payload, received_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
  if (db.run(sql, id, key, payload, now).changes === 0) return { now, outcome: 'repeated' };
  db.run('UPDATE jobs SET inbox_rev = inbox_rev + 1 WHERE id = ?', id);
  return { now, outcome: 'kept' };
}

export function inbox(db: Session, jobId: string): Reply<{ messages: Message[]; inboxRev: number }> {
  const job = db.get<{ id: number; inbox_rev: number }>(
    'SELECT id, inbox_rev FROM jobs WHERE job_id = ?',
    jobId,
  );
  const rows = db.all<{ key: string; payload: string; received_at: number }>(
    'SELECT key, payload, received_at FROM inbox WHERE job = ? AND consumed = 0 ORDER BY received_at, key',
    job?.id ?? -1,
  );
  const messages = rows.map(({ key, payload, received_at }) => ({
    jobId,
    key,
    payload,
    receivedAt: received_at,
  }));
  return { now: db.now(), messages, inboxRev: job?.inbox_rev ?? 0 };
}

export function unread(
  db: Session,
  { after, limit }: { after: string | null; limit: number },
): Reply<{ jobIds: string[]; next: string | null }> {
  const rows = db.all<{ id: number; job_id: string }>(
    `SELECT DISTINCT jobs.id, job_id FROM inbox JOIN jobs ON jobs.id = inbox.job
     WHERE consumed = 0 AND inbox.job > ? AND status = 'waiting' ORDER BY inbox.job LIMIT +?`,
    Number(after ?? -1),
    limit,
  );
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { now: db.now(), jobIds: rows.map(({ job_id }) => job_id), next: last ? `${last.id}` : null };
}
