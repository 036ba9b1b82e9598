import type { Reply, Stray } from '../../ports/store.js';
import type { Queries } from './session.js';

type Page = { readonly after: string | null; readonly limit: number };
type Part = { readonly strays: Stray[]; readonly next: string | null };

/**
 * First what the log still has, then what only `created` still names: the first row of a log goes with the row of its job,
 * and many a job has no other. Each page is one statement, and a purge one transaction: half of one is never seen.
 */
export async function strays(db: Queries, { after, limit }: Page): Promise<Reply<Part>> {
  const [, xid, jobId = ''] = /^created (\d+) (\S*)$/.exec(after ?? '') ?? [];
  const part = xid === undefined ? inLog(db, { after, limit }) : inCreated(db, { xid, jobId, limit });
  return { ...(await part), now: await db.now() };
}

/** No id of a job has a blank in it. */
const BEFORE_CREATED = 'created 0 ';

type Logged = { readonly jobId: string; readonly first: number | null; readonly last: number | null };

/** From the log of one job to that of the next, along its key: one look-up for each, however long it is. */
async function inLog(db: Queries, { after, limit }: Page): Promise<Part> {
  const walked = await db.rows<Logged>(
    `WITH RECURSIVE walk (job_id, n) AS (
       (SELECT l.job_id, 1 FROM pawl.log l WHERE l.job_id > $1 ORDER BY l.job_id LIMIT 1)
       UNION ALL
       SELECT next.job_id, n + 1 FROM walk, LATERAL
         (SELECT l.job_id FROM pawl.log l WHERE l.job_id > walk.job_id ORDER BY l.job_id LIMIT 1) next
       WHERE n < $2)
     SELECT job_id AS "jobId", revs.* FROM walk LEFT JOIN LATERAL (
       SELECT min(rev) AS first, max(rev) AS last FROM pawl.log l WHERE l.job_id = walk.job_id) revs
     ON NOT EXISTS (SELECT 1 FROM pawl.jobs j WHERE j.job_id = walk.job_id) ORDER BY n`,
    [after ?? '', limit],
  );
  const last = walked.length === limit ? walked.at(-1) : undefined;
  return {
    strays: walked.flatMap((one) =>
      one.first === null || one.last === null
        ? []
        : [{ jobId: one.jobId, revs: { first: one.first, last: one.last } }],
    ),
    next: last?.jobId ?? BEFORE_CREATED,
  };
}

/** Those that the log has no row of: the others have been told. */
async function inCreated(
  db: Queries,
  { xid, jobId, limit }: { xid: string; jobId: string; limit: number },
): Promise<Part> {
  const listed = await db.rows<{ xid: string; jobId: string; isStray: boolean }>(
    `SELECT made.xid::text AS xid, made.job_id AS "jobId",
       NOT EXISTS (SELECT 1 FROM pawl.jobs j WHERE j.job_id = made.job_id)
       AND NOT EXISTS (SELECT 1 FROM pawl.log l WHERE l.job_id = made.job_id) AS "isStray"
     FROM (SELECT c.xid, i.job_id FROM pawl.created c, unnest(c.job_ids) AS i (job_id)
       WHERE c.xid >= $1::xid8 AND (c.xid, i.job_id) > ($1::xid8, $2) ORDER BY c.xid, i.job_id LIMIT $3) made
     ORDER BY made.xid, made.job_id`,
    [xid, jobId, limit],
  );
  const last = listed.length === limit ? listed.at(-1) : undefined;
  return {
    strays: listed.flatMap((one) => (one.isStray ? [{ jobId: one.jobId, revs: null }] : [])),
    next: last ? `created ${last.xid} ${last.jobId}` : null,
  };
}
