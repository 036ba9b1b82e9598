import type { Hold, HoldReason, PausedQueue, Reply } from '../../ports/store.js';
import { NOW, type Queries } from './session.js';

type Changed = { readonly now: number; readonly changed: number };

const changedBy = async (rows: Promise<Changed[]>): Promise<Reply<{ changed: number }>> =>
  (await rows)[0] ?? { now: 0, changed: 0 };

export function hold(db: Queries, { jobIds, reason, by }: Hold): Promise<Reply<{ changed: number }>> {
  return changedBy(
    db.rows<Changed>(
      `WITH held AS (UPDATE pawl.jobs SET held = true, ready = false WHERE job_id = ANY($2) AND NOT held RETURNING job_id),
       noted AS (INSERT INTO pawl.holds (job_id, reason, held_by, since) SELECT job_id, $3, $4, ${NOW} FROM held)
       SELECT ${NOW} AS now, count(*) AS changed FROM held`,
      [db.fixedNow(), jobIds, reason, by],
    ),
  );
}

/** What is due becomes ready with the next claim, like any timer. */
export function release(db: Queries, jobIds: readonly string[]): Promise<Reply<{ changed: number }>> {
  return changedBy(
    db.rows<Changed>(
      `WITH released AS (UPDATE pawl.jobs SET held = false WHERE job_id = ANY($2) AND held RETURNING job_id),
       noted AS (DELETE FROM pawl.holds WHERE job_id IN (SELECT job_id FROM released))
       SELECT ${NOW} AS now, count(*) AS changed FROM released`,
      [db.fixedNow(), jobIds],
    ),
  );
}

export async function heldFor(db: Queries, jobId: string): Promise<Reply<{ hold: HoldReason | null }>> {
  const [found = null] = await db.rows<HoldReason>(
    'SELECT reason, held_by AS "by", since FROM pawl.holds WHERE job_id = $1',
    [jobId],
  );
  return { now: await db.now(), hold: found };
}

export async function pauseQueue(
  db: Queries,
  { queue, paused, by }: { queue: string; paused: boolean; by: string },
): Promise<Reply<unknown>> {
  const now = await db.now();
  if (paused) {
    await db.rows(
      'INSERT INTO pawl.paused_queues (queue, paused_by, since) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [queue, by, now],
    );
  } else {
    await db.rows('DELETE FROM pawl.paused_queues WHERE queue = $1', [queue]);
  }
  return { now };
}

export async function pausedQueues(db: Queries): Promise<Reply<{ queues: PausedQueue[] }>> {
  const queues = await db.rows<PausedQueue>(
    'SELECT queue, paused_by AS "by", since FROM pawl.paused_queues ORDER BY queue',
  );
  return { now: await db.now(), queues };
}
