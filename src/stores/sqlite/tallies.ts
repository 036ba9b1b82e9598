import type { Status } from '../../kernel/index.js';
import type { LiveCount, Reply, Store, TenantCount } from '../../ports/store.js';
import { countsOf, ENDED_OTHERWISE, hasIndex, OF_OTHER_TENANTS } from '../job-indexes.js';
import type { Session } from './session.js';

export function retrying(
  db: Session,
  { atLeast }: Parameters<Store['retrying']>[0],
): Reply<{ tenants: TenantCount[] }> {
  const rows = db.all<TenantCount>(
    `SELECT tenant_id AS tenantId, count(*) AS count FROM jobs WHERE status = 'retrying'
     GROUP BY tenant_id HAVING count(*) >= ? ORDER BY tenant_id`,
    atLeast,
  );
  return { now: db.now(), tenants: rows.map((row) => ({ ...row })) };
}

/**
 * Every job that has not ended is ready, held by somebody, or resting; each of the three has an index of its own, so
 * that a job that is started, claimed and finished needs none for being counted. Those that ended are in none.
 */
export function countLive(
  db: Session,
  { tenantId, atMost }: Parameters<Store['countLive']>[0],
): Reply<{ count: number }> {
  const among = (rows: string, ...values: readonly string[]): number => {
    const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM jobs WHERE ${rows} AND tenant_id = ? LIMIT +?)`;
    return db.get<{ count: number }>(sql, ...values, tenantId, atMost)?.count ?? 0;
  };
  let count = among('ready = 0 AND incarnation IS NULL AND finished_at IS NULL');
  if (count < atMost) count += among('incarnation IS NOT NULL');
  for (let lane = laneAfter(db, ''); lane !== undefined; lane = laneAfter(db, lane)) {
    if (count >= atMost) break;
    count += among('ready = 1 AND lane = ?', lane);
  }
  return { now: db.now(), count: Math.min(count, atMost) };
}

/** Lanes are few: one look-up for each that has work. */
function laneAfter(db: Session, last: string): string | undefined {
  const sql = 'SELECT lane FROM jobs WHERE ready = 1 AND lane > ? ORDER BY lane LIMIT 1';
  return db.get<{ lane: string }>(sql, last)?.lane;
}

/** The same three, each by its own index. */
const LIVE = `(SELECT tenant_id, status FROM jobs WHERE ready = 0 AND incarnation IS NULL AND finished_at IS NULL
  UNION ALL SELECT tenant_id, status FROM jobs WHERE incarnation IS NOT NULL
  UNION ALL SELECT tenant_id, status FROM jobs WHERE ready = 1)`;

export function liveCounts(db: Session): Reply<{ counts: LiveCount[] }> {
  const rows = db.all<LiveCount>(
    `SELECT tenant_id AS tenantId, status, count(*) AS count FROM ${LIVE}
     GROUP BY tenant_id, status ORDER BY tenant_id, status`,
  );
  return { now: db.now(), counts: rows.map((row) => ({ ...row })) };
}

/** In one statement, or what others save meanwhile would be missing from one part and be in the other. */
export function counts(
  db: Session,
  { tenantId }: Parameters<Store['counts']>[0],
): Reply<{ counts: Partial<Record<Status, number>> }> {
  const [total, where] =
    tenantId === null
      ? ['SELECT count(*) FROM jobs', '?1 IS NULL']
      : [hasIndex(tenantId) ? OF_TENANT : OF_USUAL_TENANT, 'tenant_id = ?1'];
  const rows = db.all<{ status: Status | null; count: number }>(
    `SELECT NULL AS status, (${total}) AS count
     UNION ALL SELECT status, count(*) FROM ${LIVE} WHERE ${where} GROUP BY status
     UNION ALL SELECT status, count(*) FROM jobs WHERE ${ENDED_OTHERWISE} AND ${where} GROUP BY status`,
    tenantId,
  );
  return { now: db.now(), counts: countsOf(rows) };
}

const OF_TENANT = `SELECT count(*) FROM jobs WHERE tenant_id = ?1 AND ${OF_OTHER_TENANTS}`;
/** All but those that the index has. */
const OF_USUAL_TENANT = `SELECT (SELECT count(*) FROM jobs) - (SELECT count(*) FROM jobs WHERE ${OF_OTHER_TENANTS})`;

export function dlqOpen(db: Session): Reply<{ tenants: TenantCount[] }> {
  const rows = db.all<TenantCount>(
    `SELECT tenant_id AS tenantId, count(*) AS count FROM dlq_items WHERE status = 'open'
     GROUP BY tenant_id ORDER BY tenant_id`,
  );
  return { now: db.now(), tenants: rows.map((row) => ({ ...row })) };
}

export function dlqEntered(
  db: Session,
  { from, until, atLeast }: Parameters<Store['dlqEntered']>[0],
): Reply<{ tenants: TenantCount[] }> {
  const rows = db.all<TenantCount>(
    `SELECT tenant_id AS tenantId, count(*) AS count FROM dlq_items WHERE created_at >= ? AND created_at < ?
     GROUP BY tenant_id HAVING count(*) >= ? ORDER BY tenant_id`,
    from,
    until,
    atLeast,
  );
  return { now: db.now(), tenants: rows.map((row) => ({ ...row })) };
}
