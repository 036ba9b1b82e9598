import type { LaneHead, Reply } from '../../ports/store.js';
import type { Session } from './session.js';

const HEAD =
  'SELECT lane, tenant_id AS tenantId, due_at AS dueAt FROM jobs INDEXED BY jobs_claim WHERE ready = 1';
const ORDER = 'ORDER BY lane, tenant_id, gate, priority DESC, due_at, job_id LIMIT 1';

/** From one stretch of the claim index to the next: what lies between is not looked at. */
export function heads(db: Session, { limit }: { limit: number }): Reply<{ heads: LaneHead[] }> {
  const found: LaneHead[] = [];
  let next = db.get<LaneHead>(`${HEAD} ${ORDER}`);
  while (next && found.length < limit) {
    const { lane, tenantId, dueAt } = next;
    found.push({ lane, tenantId, dueAt });
    next =
      db.get<LaneHead>(`${HEAD} AND lane = ? AND tenant_id > ? ${ORDER}`, lane, tenantId) ??
      db.get<LaneHead>(`${HEAD} AND lane > ? ${ORDER}`, lane);
  }
  return { now: db.now(), heads: found };
}
