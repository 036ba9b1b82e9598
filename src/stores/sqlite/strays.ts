import { decodeEvents } from '../../kernel/index.js';
import type { Reply, Stray } from '../../ports/store.js';
import type { Session } from './session.js';

type Walked = { readonly job: number; readonly hasRow: 0 | 1 };

/**
 * From the log of one job to that of the next, along the key of the log: one look-up for each, however long it is. Jobs are
 * numbered from 1 on, and what a purge leaves as a mark is number 0.
 */
const WALK = `WITH RECURSIVE walk (job, n) AS (
    SELECT min(job), 1 FROM log WHERE job > ?1
    UNION ALL
    SELECT (SELECT min(job) FROM log WHERE job > walk.job), n + 1 FROM walk WHERE job IS NOT NULL AND n < ?2)
  SELECT job, EXISTS (SELECT 1 FROM jobs WHERE id = walk.job) AS hasRow FROM walk WHERE job IS NOT NULL`;

export function strays(
  db: Session,
  { after, limit }: { after: string | null; limit: number },
): Reply<{ strays: Stray[]; next: string | null }> {
  const walked = db.all<Walked>(WALK, Number(after ?? 0), limit);
  const last = walked.length === limit ? walked.at(-1) : undefined;
  return {
    now: db.now(),
    strays: walked.flatMap(({ job, hasRow }) => (hasRow === 1 ? [] : strayAt(db, job))),
    next: last ? `${last.job}` : null,
  };
}

/** Another process may have purged it since: then nothing is left, and it was none. */
function strayAt(db: Session, job: number): Stray[] {
  const revs = db.get<{ first: number | null; last: number | null }>(
    `SELECT (SELECT min(rev) FROM log WHERE job = ?1) AS first, (SELECT max(rev) FROM log WHERE job = ?1) AS last
     WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE id = ?1)`,
    job,
  );
  if (revs === undefined || revs.first === null || revs.last === null) return [];
  return [{ jobId: idIn(db, job) ?? `log.job=${job}`, revs: { first: revs.first, last: revs.last } }];
}

/** Only the first row of a log says whose it is: the others refer to the number of the row that is gone. */
function idIn(db: Session, job: number): string | null {
  const row = db.get<{ body: string }>('SELECT body FROM log WHERE job = ? AND rev = 1', job);
  const decoded = decodeEvents(row?.body ?? '');
  const created = decoded.ok ? decoded.events[0] : undefined;
  return created?.type === 'job.created' ? created.spec.jobId : null;
}
