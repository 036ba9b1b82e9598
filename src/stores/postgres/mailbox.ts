import type { EffectResult, Message, NewMessage, Reply } from '../../ports/store.js';
import type { Queries } from './session.js';

export async function putEffect(
  db: Queries,
  { jobId, step, occurrence, entry, result }: EffectResult,
): Promise<Reply<{ first: boolean }>> {
  // The job's row is held: the job is not purged meanwhile, and the entry is not closed.
  const written = await db.rows(
    `WITH job AS MATERIALIZED (SELECT job_id FROM pawl.jobs WHERE job_id = $1 FOR KEY SHARE)
     INSERT INTO pawl.effects (job_id, step, occurrence, entry, result) SELECT job_id, $2, $3::int, $4::int, $5 FROM job
     ON CONFLICT (job_id, step, occurrence, entry) DO UPDATE SET result = excluded.result
     WHERE effects.result IS NULL AND excluded.result IS NOT NULL RETURNING 1`,
    [jobId, step, occurrence, entry, result],
  );
  return { now: await db.now(), first: written.length > 0 };
}

export async function effects(db: Queries, jobId: string): Promise<Reply<{ results: EffectResult[] }>> {
  const results = await db.rows<Omit<EffectResult, 'jobId'>>(
    'SELECT step, occurrence, entry, result FROM pawl.effects WHERE job_id = $1 ORDER BY step, occurrence, entry',
    [jobId],
  );
  return { now: await db.now(), results: results.map((row) => ({ jobId, ...row })) };
}

type Put = Reply<{ outcome: 'kept' | 'repeated' | 'no job' }>;

/**
 * Messages that came together, in one transaction. The jobs' rows are locked first, in the order of their ids: a wait that
 * begins at the same moment sees the inbox before or after, never between.
 */
export async function putMessages(db: Queries, messages: readonly NewMessage[]): Promise<Put[]> {
  const now = await db.now();
  const jobs = await db.rows<{ job_id: string }>(
    'SELECT job_id FROM pawl.jobs WHERE job_id = ANY($1::text[]) ORDER BY job_id FOR UPDATE',
    [[...new Set(messages.map(({ jobId }) => jobId))]],
  );
  const there = new Set(jobs.map((job) => job.job_id));
  const put = messages.filter(({ jobId }) => there.has(jobId));
  const kept = await db.rows<{ job_id: string; key: string }>(
    `INSERT INTO pawl.inbox (job_id, key, payload, received_at)
     SELECT job_id, key, payload, $4 FROM unnest($1::text[], $2::text[], $3::text[]) AS new (job_id, key, payload)
     ON CONFLICT DO NOTHING RETURNING job_id, key`,
    [put.map(({ jobId }) => jobId), put.map(({ key }) => key), put.map(({ payload }) => payload), now],
  );
  await db.rows(
    `UPDATE pawl.jobs SET inbox_rev = inbox_rev + new.messages
     FROM (SELECT job_id, count(*)::int AS messages FROM unnest($1::text[]) AS kept (job_id) GROUP BY job_id) AS new
     WHERE jobs.job_id = new.job_id`,
    [kept.map((message) => message.job_id)],
  );
  const isNew = new Set(kept.map((message) => nameOf(message.job_id, message.key)));
  return messages.map(({ jobId, key }) => {
    if (!there.has(jobId)) return { now, outcome: 'no job' };
    // Of two with one key in one group, the first was kept.
    return { now, outcome: isNew.delete(nameOf(jobId, key)) ? 'kept' : 'repeated' };
  });
}

const nameOf = (jobId: string, key: string): string => `${jobId} ${key}`;

export async function inbox(
  db: Queries,
  jobId: string,
): Promise<Reply<{ messages: Message[]; inboxRev: number }>> {
  const [job] = await db.rows<{ inbox_rev: number }>('SELECT inbox_rev FROM pawl.jobs WHERE job_id = $1', [
    jobId,
  ]);
  const rows = await db.rows<{ key: string; payload: string; received_at: number }>(
    'SELECT key, payload, received_at FROM pawl.inbox WHERE job_id = $1 AND NOT consumed ORDER BY received_at, key',
    [jobId],
  );
  const messages = rows.map(({ key, payload, received_at }) => ({
    jobId,
    key,
    payload,
    receivedAt: received_at,
  }));
  return { now: await db.now(), messages, inboxRev: job?.inbox_rev ?? 0 };
}

export async function unread(
  db: Queries,
  { after, limit }: { after: string | null; limit: number },
): Promise<Reply<{ jobIds: string[]; next: string | null }>> {
  const rows = await db.rows<{ job_id: string }>(
    `SELECT DISTINCT job_id FROM pawl.inbox JOIN pawl.jobs USING (job_id)
     WHERE NOT consumed AND job_id > $1 AND status = 'waiting' ORDER BY job_id LIMIT $2`,
    [after ?? '', limit],
  );
  const jobIds = rows.map(({ job_id }) => job_id);
  return { now: await db.now(), jobIds, next: jobIds.length === limit ? (jobIds.at(-1) ?? null) : null };
}
