import type { LaneHead, Reply } from '../../ports/store.js';
import { allHeads, MOST_TIMERS } from '../lane-heads.js';
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
  const now = db.now();
  return { now, heads: allHeads(found, timers(db, now), { limit }) };
}

/** Jobs whose time has come enter the claim index with the next claim. Where nobody claims, that is what is to be seen. */
function timers(db: Session, now: number): LaneHead[] {
  return db.all<LaneHead>(
    `SELECT lane, tenant_id AS tenantId, min(due_at) AS dueAt FROM (SELECT lane, tenant_id, due_at FROM jobs
     WHERE ready = 0 AND held = 0 AND due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT +?) GROUP BY lane, tenant_id`,
    now,
    MOST_TIMERS,
  );
}
