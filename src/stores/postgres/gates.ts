import type { ClaimLane } from '../../ports/store.js';
import type { Queries } from './session.js';

/** One part of the claim index, and how many of its jobs may be taken. */
export type Stretch = {
  readonly lane: string;
  readonly tenant: string;
  readonly gate: string;
  readonly room: number;
};

type Gate = { readonly lane: string; readonly tenant: string; readonly gate: string };

/**
 * The concurrency keys with due jobs that have room for more, as stretches of the claim index. Their rows are locked:
 * no other claim counts at the same time, so no limit is exceeded. Gates that another claim is at are left to it.
 */
export async function roomIn(
  db: Queries,
  { lanes, tenants, limit }: { lanes: readonly ClaimLane[]; tenants: readonly string[]; limit: number },
): Promise<Stretch[]> {
  const gates = await gatesWithWork(db, { lanes, tenants, limit });
  if (gates.length === 0) return [];
  const limits = new Map(lanes.map(({ lane, keyLimit }) => [lane, keyLimit]));
  const running = await lockAndCount(db, gates);
  return gates.flatMap(({ lane, tenant, gate }) => {
    const keyLimit = limits.get(lane) ?? null;
    const count = running.get(`${tenant}\u0000${gate}`);
    if (count === undefined) return [];
    const room = keyLimit === null ? limit : keyLimit - count;
    return room > 0 ? [{ lane, tenant, gate, room }] : [];
  });
}

/** Steps from gate to gate through the claim index: a million jobs behind one of them are one step. */
async function gatesWithWork(
  db: Queries,
  { lanes, tenants, limit }: { lanes: readonly ClaimLane[]; tenants: readonly string[]; limit: number },
): Promise<Gate[]> {
  return db.rows<Gate>(
    `WITH RECURSIVE step (lane, tenant, gate, n) AS (
       SELECT l.lane, t.tenant, (SELECT j.gate FROM pawl.jobs j WHERE j.ready AND j.lane = l.lane AND j.tenant_id = t.tenant
         AND j.gate > '' ORDER BY j.gate LIMIT 1), 1 FROM unnest($1::text[]) AS l (lane), unnest($2::text[]) AS t (tenant)
       UNION ALL
       SELECT s.lane, s.tenant, (SELECT j.gate FROM pawl.jobs j WHERE j.ready AND j.lane = s.lane AND j.tenant_id = s.tenant
         AND j.gate > s.gate ORDER BY j.gate LIMIT 1), n + 1 FROM step s WHERE s.gate IS NOT NULL AND n < $3)
     SELECT lane, tenant, gate FROM step WHERE gate IS NOT NULL`,
    [lanes.map(({ lane }) => lane), tenants, Math.max(limit, 1_000)],
  );
}

/** How many jobs of each gate run. The count is a statement of its own: it must see what was committed before the lock. */
async function lockAndCount(db: Queries, gates: readonly Gate[]): Promise<Map<string, number>> {
  const lists = [gates.map(({ tenant }) => tenant), gates.map(({ gate }) => gate)];
  await db.rows(
    `INSERT INTO pawl.gates (tenant_id, gate) SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS g (t, n)
     ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
    lists,
  );
  const locked = await db.rows<{ tenant_id: string; gate: string }>(
    `SELECT tenant_id, gate FROM pawl.gates WHERE (tenant_id, gate) IN (SELECT * FROM unnest($1::text[], $2::text[]))
     ORDER BY tenant_id, gate FOR UPDATE SKIP LOCKED`,
    lists,
  );
  const counted = await db.rows<{ tenant_id: string; gate: string; count: number }>(
    `SELECT g.tenant_id, g.gate, (SELECT count(*) FROM pawl.jobs j WHERE j.incarnation IS NOT NULL AND j.gate <> ''
       AND j.tenant_id = g.tenant_id AND j.gate = g.gate) AS count
     FROM unnest($1::text[], $2::text[]) AS g (tenant_id, gate)`,
    [locked.map(({ tenant_id }) => tenant_id), locked.map(({ gate }) => gate)],
  );
  return new Map(counted.map(({ tenant_id, gate, count }) => [`${tenant_id}\u0000${gate}`, count]));
}
