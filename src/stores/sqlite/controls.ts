import type { Hold, HoldReason, PausedQueue, Reply } from '../../ports/store.js';
import { idOf } from './commit.js';
import type { Session } from './session.js';

export function hold(db: Session, { jobIds, reason, by }: Hold): Reply<{ changed: number }> {
  const now = db.now();
  let changed = 0;
  for (const jobId of jobIds) {
    const id = idOf(db, jobId);
    if (id === null) continue;
    const sql = 'INSERT INTO holds (job, reason, held_by, since) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
    if (db.run(sql, id, reason, by, now).changes === 0) continue;
    db.run('UPDATE jobs SET held = 1, ready = 0 WHERE id = ?', id);
    changed += 1;
  }
  return { now, changed };
}

/** What is due becomes ready with the next claim, like any timer. */
export function release(db: Session, jobIds: readonly string[]): Reply<{ changed: number }> {
  let changed = 0;
  for (const jobId of jobIds) {
    const id = idOf(db, jobId);
    if (id === null || db.run('DELETE FROM holds WHERE job = ?', id).changes === 0) continue;
    db.run('UPDATE jobs SET held = 0 WHERE id = ?', id);
    changed += 1;
  }
  return { now: db.now(), changed };
}

export function heldFor(db: Session, jobId: string): Reply<{ hold: HoldReason | null }> {
  const found = db.get<HoldReason>(
    'SELECT reason, held_by AS "by", since FROM holds WHERE job = (SELECT id FROM jobs WHERE job_id = ?)',
    jobId,
  );
  return { now: db.now(), hold: found ? { ...found } : null };
}

export function pauseQueue(
  db: Session,
  { queue, paused, by }: { queue: string; paused: boolean; by: string },
): Reply<unknown> {
  const now = db.now();
  if (paused) {
    const sql = 'INSERT INTO paused_queues (queue, paused_by, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
    db.run(sql, queue, by, now);
  } else {
    db.run('DELETE FROM paused_queues WHERE queue = ?', queue);
  }
  return { now };
}

export function pausedQueues(db: Session): Reply<{ queues: PausedQueue[] }> {
  const rows = db.all<PausedQueue>(
    'SELECT queue, paused_by AS "by", since FROM paused_queues ORDER BY queue',
  );
  return { now: db.now(), queues: rows.map((row) => ({ ...row })) };
}
