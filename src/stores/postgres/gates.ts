import { behindTaskGate, taskGateOf } from '../../kernel/index.js';
import type { ClaimLane } from '../../ports/store.js';
import type { TenantUse } from '../tenant-room.js';
import type { Queries } from './session.js';

/** A part of the claim index that has due jobs under a concurrency key. */
export type Gate = { readonly lane: string; readonly tenant: string; readonly gate: string };

/** The gates with due jobs, and how many jobs run, by tenant. */
export type Gates = {
  readonly gates: readonly Gate[];
  readonly useOf: (tenant: string) => Pick<TenantUse, 'running' | 'runningOf'>;
};

type Search = {
  readonly lanes: readonly ClaimLane[];
  readonly tenants: readonly string[];
  readonly limit: number;
};

/**
 * Finds the gates with due jobs and counts what runs there. Their rows are locked, and where a tenant has a limit of its own
 * the row of the task's gate too: no other claim counts at the same time, so no limit is exceeded. What another claim is at
 * is left to it: it looks as if any number ran there.
 */
export async function countGates(db: Queries, search: Search): Promise<Gates> {
  const gates = await gatesWithWork(db, search);
  if (gates.length === 0) return { gates, useOf: () => NOBODY };
  const limited = new Set(
    search.lanes.flatMap(({ lane, tenantLimit = null }) => (tenantLimit === null ? [] : [lane])),
  );
  const tasks = gates
    .filter(({ lane }) => limited.has(lane))
    .map(({ lane, tenant }) => ({ tenant, gate: taskGateOf(lane) }));
  const locked = await lock(db, [...gates, ...tasks]);
  const running = await count(db, locked, (gate) => `${gate}\u0001`);
  const runningOf = tasks.length === 0 ? running : await count(db, among(locked, tasks), behindTaskGate);
  return {
    gates,
    useOf: (tenant) => ({
      running: (gate) => running.get(nameOf({ tenant, gate })) ?? Number.POSITIVE_INFINITY,
      runningOf: (gate) => runningOf.get(nameOf({ tenant, gate })) ?? Number.POSITIVE_INFINITY,
    }),
  };
}

const NOBODY: Pick<TenantUse, 'running' | 'runningOf'> = { running: () => 0, runningOf: () => 0 };

type GateRow = Pick<Gate, 'tenant' | 'gate'>;
const nameOf = ({ tenant, gate }: GateRow): string => `${tenant}\u0000${gate}`;

function among(locked: readonly GateRow[], wanted: readonly GateRow[]): GateRow[] {
  const names = new Set(wanted.map(nameOf));
  return locked.filter((row) => names.has(nameOf(row)));
}

/** Steps from gate to gate through the claim index: a million jobs behind one of them are one step. */
async function gatesWithWork(db: Queries, { lanes, tenants, limit }: Search): Promise<Gate[]> {
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

async function lock(db: Queries, gates: readonly GateRow[]): Promise<GateRow[]> {
  const lists = [gates.map(({ tenant }) => tenant), gates.map(({ gate }) => gate)];
  await db.rows(
    `INSERT INTO pawl.gates (tenant_id, gate) SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS g (t, n)
     ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
    lists,
  );
  return db.rows<GateRow>(
    `SELECT tenant_id AS tenant, gate FROM pawl.gates
     WHERE (tenant_id, gate) IN (SELECT * FROM unnest($1::text[], $2::text[]))
     ORDER BY tenant_id, gate FOR UPDATE SKIP LOCKED`,
    lists,
  );
}

/**
 * How many jobs run from each gate on, up to what stands behind it. A statement of its own: it must see what was committed
 * before the lock.
 */
async function count(
  db: Queries,
  gates: readonly GateRow[],
  behind: (gate: string) => string,
): Promise<Map<string, number>> {
  const counted = await db.rows<GateRow & { count: number }>(
    `SELECT g.tenant, g.gate, (SELECT count(*) FROM pawl.jobs j WHERE j.incarnation IS NOT NULL AND j.gate <> ''
       AND j.tenant_id = g.tenant AND j.gate >= g.gate AND j.gate < g.behind) AS count
     FROM unnest($1::text[], $2::text[], $3::text[]) AS g (tenant, gate, behind)`,
    [gates.map(({ tenant }) => tenant), gates.map(({ gate }) => gate), gates.map(({ gate }) => behind(gate))],
  );
  return new Map(counted.map((row) => [nameOf(row), row.count]));
}
