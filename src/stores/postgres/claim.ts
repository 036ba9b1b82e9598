import { must, queueOf } from '../../kernel/index.js';
import type { Claimed, ClaimLane, ClaimRequest, CommitItem } from '../../ports/store.js';
import { allDue, isAround, takeTurns } from '../fair-turns.js';
import type { GateTurns } from '../gate-turns.js';
import { Rates, ratesOfTenants, sharedRates } from '../rates.js';
import { TenantRoom } from '../tenant-room.js';
import type { UnreadableJobs } from '../unreadable-jobs.js';
import { inTurn, type Candidate, type FewFirst } from './claim-few.js';
import { writeOutbox } from './commit-carefully.js';
import { countGates } from './gates.js';
import { loadIdle } from './load.js';
import { lockDue, type Stretch } from './lock-due.js';
import { lockRates, rateKey, saveRates } from './rates.js';
import type { ReadAhead } from '../read-ahead.js';
import { NOW, type Ending, type Queries, type Session } from './session.js';
import { MARK, type Mark } from './since-purge.js';
import type { SkipAhead } from './skip-ahead.js';
import { findTurns, turnsOf, type Turns } from './turns.js';
import { changes, LOG_OF_CLAIMS, LOGGED_CHANGE, setChanged } from './write-rows.js';

/** Takes due jobs: the index finds them, locks make them ours, the caller's rules decide. */
export function claim(session: Session, hints: ClaimHints, request: ClaimRequest): Promise<Claimed> {
  return hints.unreadable.claiming(request, async () => {
    const { claimed, mark } = await session.ending((db) => claimWithin(db, { session, hints, request }));
    for (const { spec, rev } of claimed.jobs) session.sincePurge.saved({ jobId: spec.jobId, rev }, mark);
    return claimed;
  });
}

/** What earlier claims found out. */
export type ClaimHints = {
  readonly skip: SkipAhead;
  readonly few: FewFirst;
  readonly reading: ReadAhead;
  readonly unreadable: UnreadableJobs;
  readonly gateTurns: GateTurns;
};

/** `mark`: read before it wrote anything. */
type Done = { readonly claimed: Claimed; readonly mark: Mark };
type Claiming = { readonly session: Session; readonly hints: ClaimHints; readonly request: ClaimRequest };

async function claimWithin(
  db: Queries,
  { session, hints: { skip, few, reading, unreadable, gateTurns }, request }: Claiming,
): Promise<Ending<Done>> {
  const { worker, lanes, limit, afterTenant, tenantId, except = [], decide } = request;
  const leftOut = except.length === 0 ? unreadable.leftOut : [...unreadable.leftOut, ...except];
  // A crowd, most likely: whose turn it may be is asked along with the rest, unless it takes an answer to know what to ask.
  const isAhead = few.rests && skip.isIdle && !lanes.some(({ rate }) => rate);
  const who = tenantId === undefined ? { after: afterTenant } : { tenants: [tenantId] };
  const [{ now, alive, paused, ...mark }, all, turns] = await Promise.all([
    begin(db, worker.incarnation),
    few.find(db, request, leftOut),
    isAhead ? findTurns(db, { lanes, limit, gateTurns }, who) : null,
  ]);
  if (!alive) {
    const claimed = { now, alive, jobs: [], lastTenant: afterTenant };
    return { answer: { claimed, mark }, last: null };
  }
  const uses = new Map(await lockRates(db, sharedRates(lanes), { skip: false }));
  const rates = new Rates(lanes, (ref) => uses.get(rateKey(ref)) ?? null, now);
  const open = rates.open(lanes.filter(({ lane }) => !paused.includes(queueOf(lane))));
  unreadable.tryAgain(now);
  const search = { lanes: open, limit, now, skip, reading, leftOut, gateTurns, rates, uses, tenantId };
  const { picked, lastTenant } = all
    ? takeTurns(allDue(all), { afterTenant, limit })
    : await pick(db, search, { afterTenant, ahead: turns });
  if (limit >= MANY && picked.length === limit) request.picked?.(lastTenant);
  const taken = picked.filter(({ lane, tenant_id }) => rates.take(lane, tenant_id));
  const found = await loadIdle(db, { recent: session.recent, reading, unreadable, now }, taken);
  const items: CommitItem[] = [];
  const last: Promise<void>[] = [];
  for (let from = 0; from < found.length; from += AT_ONCE) {
    const part = found.slice(from, from + AT_ONCE).flatMap((loaded) => decide(loaded, now) ?? []);
    if (part.length > 0) last.push(write(db, part));
    // Reported with the others; and if a later decision throws, that is what is reported.
    last.at(-1)?.catch(() => undefined);
    items.push(...part);
  }
  if (items.length < taken.length) {
    const claimed = new Set(items.map(({ jobId }) => jobId));
    const left = taken.filter(({ job_id }) => !claimed.has(job_id));
    for (const { lane, tenant_id } of left) rates.giveBack(lane, tenant_id);
  }
  for (const item of items) if (item.outbox.length > 0) last.push(writeOutbox(db, item));
  last.push(saveRates(db, rates.used()));
  const jobs = items.flatMap(({ job }) => job ?? []);
  const claimed = { now, alive, jobs, lastTenant, ...rates.freeAt };
  return { answer: { claimed, mark }, last: Promise.all(last) };
}

/** A claim of so many takes long enough for the next to be worth beginning meanwhile. */
const MANY = 200;

/** Of many claims so many are decided and sent at a time: the server writes the first while the next are decided. */
const AT_ONCE = 250;

/** How many timers become ready with one claim: enough for a herd, few enough to be done in some milliseconds. */
const MOST_TIMERS = 2_000;

type Begun = Mark & { readonly now: number; readonly alive: boolean; readonly paused: readonly string[] };

/** The time, whether the worker lives, what is paused; and jobs whose time has come enter the claim index. */
async function begin(db: Queries, incarnation: string): Promise<Begun> {
  const [row] = await db.rows<Begun>(
    `WITH alive AS (SELECT 1 FROM pawl.workers WHERE incarnation = $2 AND NOT dead FOR KEY SHARE),
     timers AS (UPDATE pawl.jobs SET ready = true WHERE job_id IN (SELECT job_id FROM pawl.jobs
       WHERE NOT ready AND NOT held AND due_at IS NOT NULL AND due_at <= ${NOW} ORDER BY due_at LIMIT $3
       FOR UPDATE SKIP LOCKED))
     SELECT ${NOW} AS now, EXISTS (SELECT 1 FROM alive) AS alive, ARRAY(SELECT queue FROM pawl.paused_queues) AS paused,
       ${MARK}`,
    [db.fixedNow(), incarnation, MOST_TIMERS],
  );
  return row ?? { now: 0, alive: false, paused: [], server: 0, log: 0, purge: 0 };
}

async function write(db: Queries, items: readonly CommitItem[]): Promise<void> {
  const { from, values } = changes(items, { alias: 'c', first: 2 });
  await db.rows(
    `WITH claimed AS (UPDATE pawl.jobs j SET ${setChanged(NOW)} FROM ${from} WHERE j.job_id = c.job_id
       RETURNING ${LOGGED_CHANGE}, j.created_xid)
     INSERT INTO pawl.log ${LOG_OF_CLAIMS} FROM claimed c`,
    [db.fixedNow(), ...values],
  );
}

type Search = {
  readonly lanes: readonly ClaimLane[];
  readonly limit: number;
  readonly now: number;
  readonly skip: SkipAhead;
  readonly reading: ReadAhead;
  readonly leftOut: readonly string[];
  readonly gateTurns: GateTurns;
  readonly rates: Rates;
  /** What was used of the rates that are locked. */
  readonly uses: Map<string, string>;
  /** Of this tenant only; undefined for all. */
  readonly tenantId: string | undefined;
};
type Picked = { readonly picked: readonly Candidate[]; readonly lastTenant: string };

/** How often a claim looks further when the tenants it met had nothing that may run: bounds the time it takes. */
const MOST_PAGES = 20;

/** Goes from tenant to tenant, and takes the first jobs of each. `ahead`: whose turn it may be, if that was asked already. */
async function pick(
  db: Queries,
  search: Search,
  { afterTenant, ahead }: { afterTenant: string; ahead: Turns | null },
): Promise<Picked> {
  const { lanes, limit, gateTurns, tenantId } = search;
  const find = (after: string): Promise<Turns> =>
    tenantId === undefined
      ? turnsOf(db, { lanes, limit, gateTurns, after }, search)
      : findTurns(db, { lanes, limit, gateTurns }, { tenants: [tenantId] });
  let after = afterTenant;
  let turns = ahead;
  const looked = new Set<string>();
  for (let page = 0; page < MOST_PAGES; page++) {
    turns ??= await find(after);
    const { tenants } = turns;
    if (tenants.length === 0 || isAround(looked, tenants)) break;
    const candidates = await candidatesOf(db, search, turns);
    if (candidates.length > 0 || tenants.length < limit || tenantId !== undefined) {
      const begun = after;
      const byTenant = new Map<string, Candidate[]>(tenants.map((tenant) => [tenant, []]));
      for (const candidate of candidates) byTenant.get(candidate.tenant_id)?.push(candidate);
      const due = {
        // In turn already, so that there is nobody left to begin again with.
        tenantsAfter: (from: string, most: number) => (from === begun ? tenants.slice(0, most) : []),
        of: (tenant: string, most: number) => byTenant.get(tenant)?.slice(0, most) ?? [],
      };
      return takeTurns(due, { afterTenant: after, limit });
    }
    after = tenants.at(-1) ?? after;
    turns = null;
  }
  return { picked: [], lastTenant: after };
}

/** Each tenant's fair share, then what others left to those who have more. In turn within each tenant. */
async function candidatesOf(db: Queries, search: Search, turns: Turns): Promise<Candidate[]> {
  const { limit } = search;
  const { tenants } = turns;
  const { stretches, rooms } = await stretchesOf(db, search, turns);
  if (stretches.length === 0) return [];
  const share = Math.max(1, Math.ceil(limit / tenants.length));
  const first = await lockDue(db, search, stretches, { most: share, except: [] });
  const counts = new Map<string, number>();
  for (const { tenant_id } of first) counts.set(tenant_id, (counts.get(tenant_id) ?? 0) + 1);
  const had = (tenant: string) => counts.get(tenant) ?? 0;
  const fair = tenants.reduce((sum, tenant) => sum + Math.min(share, had(tenant)), 0);
  const hungry = fair < limit ? stretches.filter(({ tenant }) => had(tenant) >= share) : [];
  if (hungry.length === 0) return withinRoom(first, search.lanes, rooms);
  const except = first.map(({ job_id }) => job_id);
  const more = await lockDue(db, search, hungry, { most: limit, except });
  return withinRoom([...first, ...more], search.lanes, rooms);
}

/** The parts of the claim index whose jobs may be taken, and how many of each. */
async function stretchesOf(
  db: Queries,
  { lanes, limit, rates, uses }: Search,
  { tenants, gates }: Turns,
): Promise<{ readonly stretches: readonly Stretch[]; readonly rooms: ReadonlyMap<string, TenantRoom> }> {
  for (const [key, use] of await lockRates(db, ratesOfTenants(lanes, tenants), { skip: true }))
    uses.set(key, use);
  const known = new Map(lanes.map((lane) => [lane.lane, lane]));
  // A queue may have been let go since this claim began: its jobs are for the next.
  const open = gates.filter(({ lane }) => known.has(lane));
  const useOf = await countGates(db, lanes, open);
  const rooms = new Map(
    tenants.map((tenant) => [
      tenant,
      new TenantRoom({ ...useOf(tenant), rateRoom: (lane) => rates.room(lane, tenant) }),
    ]),
  );
  const free = lanes.flatMap(({ lane }) => tenants.map((tenant) => ({ lane, tenant, gate: '' })));
  const stretches = [...free, ...open].flatMap((part) => {
    const lane = must(known.get(part.lane), 'it was found in a lane');
    const room = Math.min(limit, rooms.get(part.tenant)?.of(lane, part.gate) ?? 0);
    return room > 0 ? [{ ...part, room }] : [];
  });
  return { stretches, rooms };
}

/** In turn, and no more than the limits have room for, even if several lanes lead to the same one. */
function withinRoom(
  candidates: readonly Candidate[],
  lanes: readonly ClaimLane[],
  rooms: ReadonlyMap<string, TenantRoom>,
): Candidate[] {
  const known = new Map(lanes.map((lane) => [lane.lane, lane]));
  return candidates
    .toSorted(inTurn)
    .filter(
      ({ tenant_id, lane, gate }) =>
        rooms.get(tenant_id)?.take(must(known.get(lane), 'it was found in a lane'), gate) ?? false,
    );
}
