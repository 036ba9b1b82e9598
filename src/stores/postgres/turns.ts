import { queueOf } from '../../kernel/index.js';
import type { ClaimLane } from '../../ports/store.js';
import type { Gate } from './gates.js';
import type { Queries } from './session.js';
import type { SkipAhead } from './skip-ahead.js';

/** Whose turn it may be: up to `limit` tenants with due jobs, in turn, and their concurrency keys that have some. */
export type Turns = { readonly tenants: readonly string[]; readonly gates: readonly Gate[] };

type Search = {
  readonly lanes: readonly ClaimLane[];
  readonly limit: number;
  /** The last tenant whose turn it was. */
  readonly after: string;
  /** This tenant only; undefined for all. */
  readonly tenantId: string | undefined;
};

const nextTenant = (
  after: string,
): string => `(SELECT j.tenant_id FROM pawl.jobs j WHERE j.ready AND j.lane = s.lane
   AND j.tenant_id > ${after} ORDER BY j.tenant_id LIMIT 1)`;
const nextGate = (after: string): string => `(SELECT j.gate FROM pawl.jobs j WHERE j.ready AND j.lane = s.lane
   AND j.tenant_id = s.tenant AND j.gate > ${after} ORDER BY j.gate LIMIT 1)`;

/** Lanes whose queue is not paused. */
const OPEN = `open (lane) AS (SELECT l.lane FROM unnest($1::text[], $4::text[]) AS l (lane, queue)
   WHERE l.queue <> ALL(ARRAY(SELECT p.queue FROM pawl.paused_queues p)))`;
/** More gates than this are looked at in the next claim. */
const MOST_GATES = 1_000;

/** Steps from tenant to tenant through the claim index: those behind the last, and if they are too few, from the beginning up to it. */
const ALL_TENANTS = `behind (lane, tenant, n) AS (
     SELECT s.lane, ${nextTenant('$2')}, 1 FROM open s
     UNION ALL SELECT s.lane, ${nextTenant('s.tenant')}, n + 1 FROM behind s WHERE s.tenant IS NOT NULL AND n < $3),
   again (lane, tenant, n) AS (
     SELECT s.lane, ${nextTenant("''")}, 1 FROM open s
       WHERE $2 > '' AND (SELECT count(DISTINCT b.tenant) FROM behind b) < $3
     UNION ALL SELECT s.lane, ${nextTenant('s.tenant')}, n + 1 FROM again s WHERE s.tenant <= $2 AND n < $3),
   found (turn, tenant) AS (
     SELECT DISTINCT 1, tenant FROM behind WHERE tenant IS NOT NULL
     UNION ALL SELECT DISTINCT 2, tenant FROM again WHERE tenant <= $2)`;
const ONE_TENANT = 'found (turn, tenant) AS (SELECT 1, $2::text)';

/** Steps from gate to gate: a million jobs behind one of them are one step. */
const withGates = (tenants: string): string => `WITH RECURSIVE ${OPEN}, ${tenants},
   gated (lane, tenant, gate, n) AS (
     SELECT s.lane, s.tenant, ${nextGate("''")}, 1 FROM (SELECT o.lane, f.tenant FROM open o, found f) s
     UNION ALL SELECT s.lane, s.tenant, ${nextGate('s.gate')}, n + 1 FROM gated s
       WHERE s.gate IS NOT NULL AND n < greatest($3::int, ${MOST_GATES}))
   SELECT turn, tenant, NULL AS lane, NULL AS gate FROM found
   UNION ALL SELECT NULL, tenant, lane, gate FROM gated WHERE gate IS NOT NULL ORDER BY turn, tenant`;

type Found = { readonly turn: number; readonly tenant: string } | ({ readonly turn: null } & Gate);

/** Asks in one statement. */
export async function findTurns(db: Queries, { lanes, limit, after, tenantId }: Search): Promise<Turns> {
  const sql = withGates(tenantId === undefined ? ALL_TENANTS : ONE_TENANT);
  const names = lanes.map(({ lane }) => lane);
  const found = await db.rows<Found>(sql, [names, tenantId ?? after, limit, names.map(queueOf)]);
  const tenants = found.flatMap(({ turn, tenant }) => (turn === null ? [] : [tenant])).slice(0, limit);
  const among = new Set(tenants);
  const gates = found.flatMap((one) => (one.turn === null && among.has(one.tenant) ? [one] : []));
  return { tenants, gates };
}

/** The same, or what an earlier claim was answered, as long as searches are slow. */
export async function turnsOf(
  db: Queries,
  search: Search,
  { skip, now }: { skip: SkipAhead; now: number },
): Promise<Turns> {
  const { lanes, limit, after, tenantId } = search;
  const question = JSON.stringify([after, limit, lanes, tenantId]);
  const known = skip.turns(question, now);
  if (known) return known;
  const turns = await findTurns(db, search);
  if (db.fixedNow() === null) skip.foundTurns(question, turns);
  return turns;
}
