import type { Status } from '../../kernel/index.js';
import type { LiveCount, Reply, Store, TenantCount } from '../../ports/store.js';
import { countsOf, ENDED_OTHERWISE } from '../job-indexes.js';
import type { Queries } from './session.js';

export async function retrying(
  db: Queries,
  { atLeast }: Parameters<Store['retrying']>[0],
): Promise<Reply<{ tenants: TenantCount[] }>> {
  const tenants = await db.rows<TenantCount>(
    `SELECT tenant_id AS "tenantId", count(*) AS count FROM pawl.jobs WHERE status = 'retrying'
     GROUP BY tenant_id HAVING count(*) >= $1 ORDER BY tenant_id`,
    [atLeast],
  );
  return { now: await db.now(), tenants };
}

/**
 * Every job that has not ended is ready, held by somebody, or resting; each of the three has an index of its own, so
 * that a job that is started, claimed and finished needs none for being counted. Those that ended are in none. Lanes
 * are few: one look-up for each that has work.
 */
export async function countLive(
  db: Queries,
  { tenantId, atMost }: Parameters<Store['countLive']>[0],
): Promise<Reply<{ count: number }>> {
  const [row] = await db.rows<{ count: number }>(
    `WITH RECURSIVE lanes AS (
       (SELECT lane FROM pawl.jobs WHERE ready ORDER BY lane LIMIT 1)
       UNION ALL
       SELECT next.lane FROM lanes, LATERAL
         (SELECT j.lane FROM pawl.jobs j WHERE j.ready AND j.lane > lanes.lane ORDER BY j.lane LIMIT 1) next)
     SELECT count(*) AS count FROM (
       (SELECT 1 FROM pawl.jobs WHERE NOT ready AND incarnation IS NULL AND finished_at IS NULL AND tenant_id = $1 LIMIT $2)
       UNION ALL (SELECT 1 FROM pawl.jobs WHERE incarnation IS NOT NULL AND tenant_id = $1 LIMIT $2)
       UNION ALL (SELECT 1 FROM lanes, LATERAL
         (SELECT 1 FROM pawl.jobs j WHERE j.ready AND j.lane = lanes.lane AND j.tenant_id = $1 LIMIT $2) ready LIMIT $2)
       LIMIT $2) live`,
    [tenantId, atMost],
  );
  return { now: await db.now(), count: row?.count ?? 0 };
}

/** The same three, each by its own index. */
const LIVE = `(SELECT tenant_id, status FROM pawl.jobs WHERE NOT ready AND incarnation IS NULL AND finished_at IS NULL
  UNION ALL SELECT tenant_id, status FROM pawl.jobs WHERE incarnation IS NOT NULL
  UNION ALL SELECT tenant_id, status FROM pawl.jobs WHERE ready) live`;

export async function liveCounts(db: Queries): Promise<Reply<{ counts: LiveCount[] }>> {
  const rows = await db.rows<LiveCount>(
    `SELECT tenant_id AS "tenantId", status, count(*) AS count FROM ${LIVE}
     GROUP BY tenant_id, status ORDER BY tenant_id, status`,
    [],
  );
  return { now: await db.now(), counts: rows };
}

/** All there are, by what lists them. In one statement, or what others save meanwhile would be in one part and not in another. */
export async function counts(
  db: Queries,
  { tenantId }: Parameters<Store['counts']>[0],
): Promise<Reply<{ counts: Partial<Record<Status, number>> }>> {
  const of = '($1::text IS NULL OR tenant_id = $1)';
  const rows = await db.rows<{ status: Status | null; count: number }>(
    `SELECT NULL AS status, coalesce(sum(cardinality(job_ids)), 0)::int AS count FROM pawl.created WHERE ${of}
     UNION ALL SELECT status, count(*) FROM ${LIVE} WHERE ${of} GROUP BY status
     UNION ALL SELECT status, count(*) FROM pawl.jobs WHERE ${ENDED_OTHERWISE} AND ${of} GROUP BY status`,
    [tenantId],
  );
  return { now: await db.now(), counts: countsOf(rows) };
}

export async function dlqOpen(db: Queries): Promise<Reply<{ tenants: TenantCount[] }>> {
  const tenants = await db.rows<TenantCount>(
    `SELECT tenant_id AS "tenantId", count(*) AS count FROM pawl.dlq_items WHERE status = 'open'
     GROUP BY tenant_id ORDER BY tenant_id`,
    [],
  );
  return { now: await db.now(), tenants };
}

export async function dlqEntered(
  db: Queries,
  { from, until, atLeast }: Parameters<Store['dlqEntered']>[0],
): Promise<Reply<{ tenants: TenantCount[] }>> {
  const tenants = await db.rows<TenantCount>(
    `SELECT tenant_id AS "tenantId", count(*) AS count FROM pawl.dlq_items WHERE created_at >= $1 AND created_at < $2
     GROUP BY tenant_id HAVING count(*) >= $3 ORDER BY tenant_id`,
    [from, until, atLeast],
  );
  return { now: await db.now(), tenants };
}
