import { behindTaskGate, taskGateOf } from '../../kernel/index.js';
import type { ClaimLane } from '../../ports/store.js';
import type { TenantUse } from '../tenant-room.js';
import type { Queries } from './session.js';

/** A part of the claim index that has due jobs under a concurrency key. */
export type Gate = { readonly lane: string; readonly tenant: string; readonly gate: string };

/** How many jobs run, by tenant. */
type UseOf = (tenant: string) => Pick<TenantUse, 'running' | 'runningOf'>;

/**
 * Counts what runs behind gates with due jobs. Their rows are locked, and where a tenant has a limit of its own
 * the row of the task's gate too: no other claim counts at the same time, so no limit is exceeded. What another claim is at
 * is left to it: it looks as if any number ran there.
 */
export async function countGates(
  db: Queries,
  lanes: readonly ClaimLane[],
  gates: readonly Gate[],
): Promise<UseOf> {
  if (gates.length === 0) return () => NOBODY;
  const limited = new Set(
    lanes.flatMap(({ lane, tenantLimit = null }) => (tenantLimit === null ? [] : [lane])),
  );
  const tasks = gates
    .filter(({ lane }) => limited.has(lane))
    .map(({ lane, tenant }) => ({ tenant, gate: taskGateOf(lane) }));
  const locked = await lock(db, [...gates, ...tasks]);
  const running = await count(db, locked, (gate) => `${gate}\u0001`);
  const runningOf = tasks.length === 0 ? running : await count(db, among(locked, tasks), behindTaskGate);
  return (tenant) => ({
    running: (gate) => running.get(nameOf({ tenant, gate })) ?? Number.POSITIVE_INFINITY,
    runningOf: (gate) => runningOf.get(nameOf({ tenant, gate })) ?? Number.POSITIVE_INFINITY,
  });
}

const NOBODY: Pick<TenantUse, 'running' | 'runningOf'> = { running: () => 0, runningOf: () => 0 };

type GateRow = Pick<Gate, 'tenant' | 'gate'>;
const nameOf = ({ tenant, gate }: GateRow): string => `${tenant}\u0000${gate}`;

function among(locked: readonly GateRow[], wanted: readonly GateRow[]): GateRow[] {
  const names = new Set(wanted.map(nameOf));
  return locked.filter((row) => names.has(nameOf(row)));
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
