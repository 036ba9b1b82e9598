import { queueOf } from '../../kernel/index.js';
import type { ClaimLane } from '../../ports/store.js';
import { MOST_GATES, type GateTurns } from '../gate-turns.js';
import type { Gate } from './gates.js';
import type { Queries } from './session.js';
import type { SkipAhead } from './skip-ahead.js';

/** Whose turn it may be: tenants, in turn, and those of their concurrency keys that have due jobs. */
export type Turns = { readonly tenants: readonly string[]; readonly gates: readonly Gate[] };

type Search = {
  readonly lanes: readonly ClaimLane[];
  readonly limit: number;
  readonly gateTurns: GateTurns;
};

const IN_LANE = 'FROM pawl.jobs j WHERE j.ready AND j.lane = s.lane';
const nextTenant = (after: string): string =>
  `(SELECT j.tenant_id ${IN_LANE} AND j.tenant_id > ${after} ORDER BY j.tenant_id LIMIT 1)`;
const nextGate = (after: string, upTo = ''): string =>
  `(SELECT j.gate ${IN_LANE} AND j.tenant_id = s.tenant AND j.gate > ${after} ${upTo} ORDER BY j.gate LIMIT 1)`;
const UP_TO_FIRST = 'AND j.gate <= s.behind';
/** Behind the last key the first ones follow, unless the search began with them. */
const gateAfter = (gate: string): string =>
  `coalesce(${nextGate(gate)}, CASE WHEN s.behind > '' THEN ${nextGate("''", UP_TO_FIRST)} END)`;

/** Lanes whose queue is not paused. */
const OPEN = `open (lane) AS (SELECT l.lane FROM unnest($1::text[], $4::text[]) AS l (lane, queue)
   WHERE l.queue <> ALL(ARRAY(SELECT p.queue FROM pawl.paused_queues p)))`;

/** Steps from tenant to tenant through the claim index: those behind the last, and if they are too few, from the beginning up to it. */
const BEHIND_THE_LAST = withGates(`behind (lane, tenant, n) AS (
     SELECT s.lane, ${nextTenant('$2')}, 1 FROM open s
     UNION ALL SELECT s.lane, ${nextTenant('s.tenant')}, n + 1 FROM behind s WHERE s.tenant IS NOT NULL AND n < $3),
   again (lane, tenant, n) AS (
     SELECT s.lane, ${nextTenant("''")}, 1 FROM open s
       WHERE $2 > '' AND (SELECT count(DISTINCT b.tenant) FROM behind b) < $3
     UNION ALL SELECT s.lane, ${nextTenant('s.tenant')}, n + 1 FROM again s WHERE s.tenant <= $2 AND n < $3),
   turns (turn, tenant) AS (
     SELECT DISTINCT 1, tenant FROM behind WHERE tenant IS NOT NULL
     UNION ALL SELECT DISTINCT 2, tenant FROM again WHERE tenant <= $2
     ORDER BY 1, 2 LIMIT $3)`);
const THESE = withGates(`turns (turn, tenant) AS (
     SELECT w.turn, w.tenant FROM unnest($2::text[]) WITH ORDINALITY AS w (tenant, turn) LIMIT $3)`);

/**
 * Steps from key to key: a million jobs behind one of them are one step. It begins behind the key where the last claim stopped, and
 * goes around; a key that is not behind that one is of the second part of the way.
 */
function withGates(tenants: string): string {
  return `WITH RECURSIVE ${OPEN}, ${tenants},
   gated (lane, tenant, behind, gate, n) AS (
     SELECT s.lane, s.tenant, s.behind, ${gateAfter('s.behind')}, 1 FROM (SELECT o.lane, t.tenant,
       coalesce((SELECT p.gate FROM unnest($5::text[], $6::text[], $7::text[]) AS p (lane, tenant, gate)
         WHERE p.lane = o.lane AND p.tenant = t.tenant), '') AS behind FROM open o, turns t) s
     UNION ALL SELECT s.lane, s.tenant, s.behind,
       CASE WHEN s.gate > s.behind THEN ${gateAfter('s.gate')} ELSE ${nextGate('s.gate', UP_TO_FIRST)} END, n + 1 FROM gated s
       WHERE s.gate IS NOT NULL AND n < $8::int)
   SELECT turn, tenant, NULL AS lane, NULL AS gate, NULL AS n FROM turns
   UNION ALL SELECT NULL, tenant, lane, gate, n FROM gated WHERE gate IS NOT NULL ORDER BY turn, tenant, n`;
}

type FoundGate = { readonly turn: null; readonly n: number } & Gate;
type Found = { readonly turn: number; readonly tenant: string } | FoundGate;

/** Asks in one statement, for up to `limit` tenants with due jobs behind `after`; or for these tenants. */
export async function findTurns(
  db: Queries,
  { lanes, limit, gateTurns }: Search,
  who: { readonly after: string } | { readonly tenants: readonly string[] },
): Promise<Turns> {
  const [sql, tenants] = 'after' in who ? [BEHIND_THE_LAST, who.after] : [THESE, who.tenants];
  const names = lanes.map(({ lane }) => lane);
  const { places } = gateTurns;
  const most = Math.max(limit, MOST_GATES);
  const found = await db.rows<Found>(sql, [
    names,
    tenants,
    limit,
    names.map(queueOf),
    places.map(({ lane }) => lane),
    places.map(({ tenant }) => tenant),
    places.map(({ gate }) => gate),
    most,
  ]);
  const gates = found.flatMap((one) => (one.turn === null ? [one] : []));
  // In the order in which they were met: of each lane and tenant the last counts.
  for (const { lane, tenant, gate, n } of gates) gateTurns.looked({ lane, tenant }, { gate, count: n, most });
  return { tenants: found.flatMap(({ turn, tenant }) => (turn === null ? [] : [tenant])), gates };
}

/**
 * The same. As long as searches are slow, of the tenants that an earlier claim has found: to step over what is dead between one
 * and the next is what takes long. Keys come and go, and lie behind it.
 */
export async function turnsOf(
  db: Queries,
  { after, ...search }: Search & { readonly after: string },
  { skip, now }: { readonly skip: SkipAhead; readonly now: number },
): Promise<Turns> {
  const question = JSON.stringify([after, search.limit, search.lanes]);
  const known = skip.tenants(question, now);
  const turns = await findTurns(db, search, known ? { tenants: known } : { after });
  if (db.fixedNow() === null) skip.foundTenants(question, turns.tenants, now);
  return turns;
}
