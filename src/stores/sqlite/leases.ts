import { endLease, expireLease, must, renewLease, type WorkerRef } from '../../kernel/index.js';
import type { Beat, BeatReply, Loaded, Reply, WorkerEntry } from '../../ports/store.js';
import type { UnreadableJobs } from '../unreadable-jobs.js';
import { load } from './load.js';
import type { Session } from './session.js';

type StoredLease = { readonly incarnation: string; readonly lease_until: number; readonly dead: number };

export function beat(db: Session, { worker, leaseMs, lanes }: Beat): BeatReply {
  const now = db.now();
  const stored = db.get<StoredLease>(
    'SELECT incarnation, lease_until, dead FROM workers WHERE incarnation = ?',
    worker.incarnation,
  );
  const lease = { leaseUntil: stored?.lease_until ?? 0, dead: stored?.dead === 1 };
  const renewed = renewLease(lease, { now, leaseMs });
  if (renewed.ok) {
    db.run(
      `INSERT INTO workers (incarnation, worker_id, lease_until, dead, lanes) VALUES (?, ?, ?, 0, ?)
       ON CONFLICT (incarnation) DO UPDATE SET lease_until = excluded.lease_until`,
      worker.incarnation,
      worker.id,
      renewed.lease.leaseUntil,
      JSON.stringify(lanes),
    );
    db.run(
      'UPDATE workers SET dead = 1 WHERE worker_id = ? AND incarnation < ? AND dead = 0',
      worker.id,
      worker.incarnation,
    );
  }
  const held = db
    .all<{ job_id: string; attempt_id: string }>(
      'SELECT job_id, attempt_id FROM jobs WHERE incarnation = ? ORDER BY id',
      worker.incarnation,
    )
    .map(({ job_id, attempt_id }) => ({ jobId: job_id, attemptId: attempt_id }));
  return {
    now,
    alive: renewed.ok,
    leaseUntil: renewed.ok ? renewed.lease.leaseUntil : lease.leaseUntil,
    held,
  };
}

export function resign(db: Session, { incarnation }: WorkerRef): Reply<{ readonly resigned: boolean }> {
  const stored = db.get<StoredLease & { holds: number }>(
    `SELECT incarnation, lease_until, dead, EXISTS (SELECT 1 FROM jobs WHERE jobs.incarnation = workers.incarnation) AS holds
     FROM workers WHERE incarnation = ?`,
    incarnation,
  );
  const lease = { leaseUntil: stored?.lease_until ?? 0, dead: stored?.dead !== 0 };
  const resigned = endLease(lease, { holdsJobs: stored?.holds === 1 }) !== null;
  if (resigned) db.run('UPDATE workers SET dead = 1 WHERE incarnation = ?', incarnation);
  return { now: db.now(), resigned };
}

/** Those that cannot be read are left alone, and are in nobody's way. */
export function orphans(
  db: Session,
  unreadable: UnreadableJobs,
  { limit }: { limit: number },
): Reply<{ readonly jobs: readonly Loaded[] }> {
  const now = db.now();
  for (const { incarnation, lease_until, dead } of db.all<StoredLease>(
    'SELECT incarnation, lease_until, dead FROM workers WHERE dead = 0',
  )) {
    const expired = expireLease({ leaseUntil: lease_until, dead: dead === 1 }, now);
    if (expired) db.run('UPDATE workers SET dead = 1 WHERE incarnation = ?', incarnation);
  }
  unreadable.tryAgain(now);
  // The plus keeps SQLite from walking through all jobs in the order of their ids until it has met so many that are lost.
  const lost = db.all<{ job_id: string }>(
    `SELECT job_id FROM jobs WHERE incarnation IS NOT NULL
     AND incarnation NOT IN (SELECT incarnation FROM workers WHERE dead = 0)
     AND job_id NOT IN (SELECT value FROM json_each(?)) ORDER BY +id LIMIT +?`,
    JSON.stringify(unreadable.leftOut),
    limit,
  );
  const jobs = lost.flatMap(
    ({ job_id }) => unreadable.reading(job_id, now, () => must(load(db, job_id), 'it was found')) ?? [],
  );
  return { now, jobs };
}

export function workers(
  db: Session,
  { incarnations }: { incarnations: readonly string[] | null },
): Reply<{ readonly workers: readonly WorkerEntry[] }> {
  const wanted = incarnations && JSON.stringify(incarnations);
  const rows = db.all<StoredLease & { worker_id: string; lanes: string }>(
    `SELECT incarnation, worker_id, lease_until, dead, lanes FROM workers
     WHERE CASE WHEN ? IS NULL THEN dead = 0 ELSE incarnation IN (SELECT value FROM json_each(?)) END
     ORDER BY incarnation`,
    wanted,
    wanted,
  );
  return {
    now: db.now(),
    workers: rows.map(({ incarnation, worker_id, lease_until, dead, lanes }) => ({
      worker: { id: worker_id, incarnation },
      leaseUntil: lease_until,
      dead: dead === 1,
      lanes: JSON.parse(lanes) as string[],
    })),
  };
}
