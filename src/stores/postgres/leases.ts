import { endLease, expireLease, renewLease, type WorkerRef } from '../../kernel/index.js';
import type { Beat, BeatReply, Loaded, Reply, WorkerEntry } from '../../ports/store.js';
import type { UnreadableJobs } from '../unreadable-jobs.js';
import { loadAll } from './load.js';
import type { Queries } from './session.js';

type StoredLease = { readonly incarnation: string; readonly lease_until: number; readonly dead: boolean };

/**
 * A heartbeat does not wait for claims of its worker, which may follow each other without a gap: they hold the row's key, and it
 * changes something else. Whoever declares a worker dead locks the whole row, and so waits for claims that have begun.
 */
export async function beat(db: Queries, { worker, leaseMs, lanes }: Beat): Promise<BeatReply> {
  const now = await db.now();
  const [stored] = await db.rows<StoredLease>(
    'SELECT incarnation, lease_until, dead FROM pawl.workers WHERE incarnation = $1 FOR NO KEY UPDATE',
    [worker.incarnation],
  );
  const lease = { leaseUntil: stored?.lease_until ?? 0, dead: stored?.dead ?? false };
  const renewed = renewLease(lease, { now, leaseMs });
  if (renewed.ok) {
    await db.rows(
      `INSERT INTO pawl.workers (incarnation, worker_id, lease_until, dead, lanes) VALUES ($1, $2, $3, false, $4)
       ON CONFLICT (incarnation) DO UPDATE SET lease_until = excluded.lease_until`,
      [worker.incarnation, worker.id, renewed.lease.leaseUntil, JSON.stringify(lanes)],
    );
    await db.rows(
      `UPDATE pawl.workers SET dead = true WHERE incarnation IN (SELECT incarnation FROM pawl.workers
       WHERE worker_id = $1 AND incarnation COLLATE "C" < $2 AND NOT dead ORDER BY incarnation FOR UPDATE)`,
      [worker.id, worker.incarnation],
    );
  }
  const held = await db.rows<{ job_id: string; attempt_id: string }>(
    'SELECT job_id, attempt_id FROM pawl.jobs WHERE incarnation = $1 ORDER BY job_id',
    [worker.incarnation],
  );
  return {
    now,
    alive: renewed.ok,
    leaseUntil: renewed.ok ? renewed.lease.leaseUntil : lease.leaseUntil,
    held: held.map(({ job_id, attempt_id }) => ({ jobId: job_id, attemptId: attempt_id })),
  };
}

/** What it holds is looked at once no claim of it is under way. */
export async function resign(
  db: Queries,
  { incarnation }: WorkerRef,
): Promise<Reply<{ readonly resigned: boolean }>> {
  const [stored] = await db.rows<StoredLease>(
    'SELECT incarnation, lease_until, dead FROM pawl.workers WHERE incarnation = $1 FOR UPDATE',
    [incarnation],
  );
  const held = await db.rows('SELECT 1 FROM pawl.jobs WHERE incarnation = $1 LIMIT 1', [incarnation]);
  const lease = { leaseUntil: stored?.lease_until ?? 0, dead: stored?.dead ?? true };
  const resigned = endLease(lease, { holdsJobs: held.length > 0 }) !== null;
  if (resigned) await db.rows('UPDATE pawl.workers SET dead = true WHERE incarnation = $1', [incarnation]);
  return { now: await db.now(), resigned };
}

/** Those that cannot be read are left alone, and are in nobody's way. */
export async function orphans(
  db: Queries,
  unreadable: UnreadableJobs,
  { limit }: { limit: number },
): Promise<Reply<{ readonly jobs: readonly Loaded[] }>> {
  const now = await db.now();
  unreadable.tryAgain(now);
  // Only those that are over by now: to lock the others would hold up their heartbeats.
  const over = await db.rows<StoredLease>(
    `SELECT incarnation, lease_until, dead FROM pawl.workers WHERE NOT dead AND lease_until <= $1
     ORDER BY incarnation FOR UPDATE`,
    [now],
  );
  const expired = over.filter(
    ({ lease_until, dead }) => expireLease({ leaseUntil: lease_until, dead }, now) !== null,
  );
  await db.rows('UPDATE pawl.workers SET dead = true WHERE incarnation = ANY($1)', [
    expired.map(({ incarnation }) => incarnation),
  ]);
  const lost = await db.rows<{ job_id: string }>(
    `SELECT job_id FROM pawl.jobs WHERE incarnation IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM pawl.workers w WHERE w.incarnation = jobs.incarnation AND NOT w.dead)
     AND job_id <> ALL($2) ORDER BY created_xid, job_id LIMIT $1`,
    [limit, unreadable.leftOut],
  );
  const jobIds = lost.map(({ job_id }) => job_id);
  return { now, jobs: await loadAll(db, jobIds, { unreadable, now }) };
}

export async function workers(
  db: Queries,
  { incarnations }: { incarnations: readonly string[] | null },
): Promise<Reply<{ readonly workers: readonly WorkerEntry[] }>> {
  const rows = await db.rows<StoredLease & { worker_id: string; lanes: string }>(
    `SELECT incarnation, worker_id, lease_until, dead, lanes FROM pawl.workers
     WHERE CASE WHEN $1::text[] IS NULL THEN NOT dead ELSE incarnation = ANY ($1::text[]) END
     ORDER BY incarnation COLLATE "C"`,
    [incarnations],
  );
  return {
    now: await db.now(),
    workers: rows.map(({ incarnation, worker_id, lease_until, dead, lanes }) => ({
      worker: { id: worker_id, incarnation },
      leaseUntil: lease_until,
      dead,
      lanes: JSON.parse(lanes) as string[],
    })),
  };
}
