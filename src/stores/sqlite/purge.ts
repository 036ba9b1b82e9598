import { dlqIdOf, type Status } from '../../kernel/index.js';
import type { Aged, AgedPage, Identity, Purge, Purged, PurgeGuard, Reply } from '../../ports/store.js';
import { isForAPlace, isOld, isUnchanged, PLACE, WORKERS_KEPT_MS } from '../retention.js';
import { ownerOf } from './commit.js';
import type { Session } from './session.js';

type Looked = {
  readonly id: number;
  readonly jobId: string;
  readonly tenantId: string;
  readonly task: string;
  readonly status: Status;
  readonly finishedAt: number | null;
  readonly isOpen: number;
  readonly owns: string | null;
};

/** Jobs are numbered from 1 on. */
const NO_JOB = 0;

/** Walks the jobs from the oldest on. */
export function aged(db: Session, page: AgedPage): Reply<Aged> {
  const looked = db.all<Looked>(
    `SELECT id, job_id AS jobId, tenant_id AS tenantId, task, status, finished_at AS finishedAt, EXISTS
     (SELECT 1 FROM dlq_items d WHERE d.job_id = jobs.job_id AND d.status = 'open') AS isOpen,
     (SELECT owns FROM log WHERE job = jobs.id AND rev = 1) AS owns
     FROM jobs WHERE id > ? ORDER BY id LIMIT +?`,
    Number(page.after ?? 0),
    page.limit,
  );
  const jobs = looked.flatMap(({ id: _id, isOpen, finishedAt, owns, ...job }) =>
    finishedAt !== null && isOpen === 0 && isOld(page, { ...job, finishedAt })
      ? [{ ...job, finishedAt, identities: identitiesOf(owns) }]
      : [],
  );
  const last = looked.at(-1);
  return { now: db.now(), jobs, next: last && looked.length === page.limit ? `${last.id}` : null };
}

/** What is deleted goes with all that belongs to it. There is one writer: nothing comes between the look and the deed. */
export function purge(db: Session, { jobs, identityTtlMs }: Purge): Reply<Purged> {
  const now = db.now();
  let gone = 0;
  for (const { jobId, guard, place } of jobs) {
    const ended = endedAs(db, jobId, guard);
    if (ended === null) continue;
    const { id, tenantId } = ended;
    if (place !== undefined && ownerOf(db, { tenantId, kind: PLACE, value: jobId }) !== place) continue;
    gone += 1;
    if (gone === 1) {
      markEnd(db);
      // A new job may get the row of one that is deleted now.
      db.recent.clear();
    }
    outlive(db, { id, jobId, until: now + identityTtlMs });
    db.run('DELETE FROM identities WHERE tenant_id = ? AND kind = ? AND value = ?', tenantId, PLACE, jobId);
    for (const table of ['log', 'effects', 'inbox', 'holds'])
      db.run(`DELETE FROM ${table} WHERE job = ?`, id);
    db.run('DELETE FROM dlq_items WHERE dlq_id = ?', dlqIdOf(jobId));
    db.run('DELETE FROM jobs WHERE id = ?', id);
  }
  const identities = db.run('DELETE FROM identities WHERE expires_at <= ?', now).changes;
  db.run(
    `DELETE FROM workers WHERE dead = 1 AND lease_until < ? AND NOT EXISTS
     (SELECT 1 FROM jobs WHERE jobs.incarnation = workers.incarnation)`,
    now - WORKERS_KEPT_MS,
  );
  return { now, jobs: gone, identities };
}

/**
 * A new row of the log gets the position after the last one. If that is deleted, the place behind it must be taken, or a
 * reader who had come so far would miss what is written there next. Counting positions (AUTOINCREMENT) would have every commit
 * write a page more for this.
 */
function markEnd(db: Session): void {
  db.run("REPLACE INTO log (job, rev, command_id, body, link) VALUES (?, 1, '', '', '')", NO_JOB);
}

type Ended = { readonly id: number; readonly tenantId: string };

/** A job that has ended and is as the guard says. */
function endedAs(db: Session, jobId: string, guard: PurgeGuard | null): Ended | null {
  const found = db.get<Ended & { inboxRev: number }>(
    'SELECT id, tenant_id AS tenantId, inbox_rev AS inboxRev FROM jobs WHERE job_id = ? AND finished_at IS NOT NULL',
    jobId,
  );
  if (!found || guard === null) return found ?? null;
  const ledger = db.get<Pick<PurgeGuard, 'effects' | 'results'>>(
    'SELECT count(*) AS effects, count(result) AS results FROM effects WHERE job = ?',
    found.id,
  );
  const state = { inboxRev: found.inboxRev, effects: 0, results: 0, ...ledger };
  return isUnchanged(guard, state) ? found : null;
}

/** Its identities stay for a while: a start that comes again meanwhile is still recognised. */
function outlive(db: Session, { id, jobId, until }: { id: number; jobId: string; until: number }): void {
  const row = db.get<{ owns: string | null }>('SELECT owns FROM log WHERE job = ? AND rev = 1', id);
  for (const identity of identitiesOf(row?.owns ?? null)) {
    if (isForAPlace(identity)) continue;
    const { tenantId, kind, value } = identity;
    const sql =
      'UPDATE identities SET expires_at = ? WHERE tenant_id = ? AND kind = ? AND value = ? AND job_id = ?';
    db.run(sql, until, tenantId, kind, value, jobId);
  }
}

const identitiesOf = (owns: string | null): Identity[] => JSON.parse(owns ?? '[]') as Identity[];
