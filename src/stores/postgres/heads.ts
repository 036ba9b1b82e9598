import type { LaneHead, Reply } from '../../ports/store.js';
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
  return { now: await db.now(), heads: rows };
}
