import type { LaneHead, Reply } from '../../ports/store.js';
import { allHeads, MOST_TIMERS } from '../lane-heads.js';
import type { Queries } from './session.js';

const HEAD = 'SELECT j.lane, j.tenant_id, j.due_at FROM pawl.jobs j WHERE j.ready';
const ORDER = 'ORDER BY j.lane, j.tenant_id, j.gate, -j.priority, j.due_at, j.job_id LIMIT 1';

/** From one stretch of the claim index to the next: what lies between is not looked at. */
export async function heads(
  db: Queries,
  { limit }: { limit: number },
): Promise<Reply<{ heads: LaneHead[] }>> {
  const rows = await db.rows<LaneHead>(
    `WITH RECURSIVE head (lane, tenant_id, due_at, n) AS (
       SELECT first.*, 1 FROM (${HEAD} ${ORDER}) first
       UNION ALL
       SELECT next.*, n + 1 FROM head, LATERAL (${HEAD} AND (j.lane, j.tenant_id) > (head.lane, head.tenant_id) ${ORDER}) next
       WHERE n < $1)
     SELECT lane, tenant_id AS "tenantId", due_at AS "dueAt" FROM head LIMIT $1`,
    [limit],
  );
  const now = await db.now();
  return { now, heads: allHeads(rows, await timers(db, now), { limit }) };
}

/** Jobs whose time has come enter the claim index with the next claim. Where nobody claims, that is what is to be seen. */
function timers(db: Queries, now: number): Promise<LaneHead[]> {
  return db.rows<LaneHead>(
    `SELECT lane, tenant_id AS "tenantId", min(due_at) AS "dueAt" FROM (SELECT lane, tenant_id, due_at FROM pawl.jobs
     WHERE NOT ready AND NOT held AND due_at IS NOT NULL AND due_at <= $1 ORDER BY due_at LIMIT $2) due GROUP BY lane, tenant_id`,
    [now, MOST_TIMERS],
  );
}
