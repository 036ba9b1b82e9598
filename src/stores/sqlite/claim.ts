import { behindTaskGate, must, queueOf, type Job } from '../../kernel/index.js';
import type { Claimed, ClaimLane, ClaimRequest } from '../../ports/store.js';
import { allDue, ofTenant, takeTurns, type DueJobs } from '../fair-turns.js';
import type { ReadAhead } from '../read-ahead.js';
import { MOST_GATES, type GateTurns } from '../gate-turns.js';
import { Rates } from '../rates.js';
import { TenantRoom, type TenantUse } from '../tenant-room.js';
import type { UnreadableJobs } from '../unreadable-jobs.js';
import { saveClaims, type NewClaim } from './commit.js';
import { dueAt, fewDue, inTurn, type Candidate } from './due-jobs.js';
import { loadIdle } from './load.js';
import { record } from './records.js';
import type { Session } from './session.js';

/** What earlier claims found out. */
export type ClaimHints = {
  readonly reading: ReadAhead;
  readonly unreadable: UnreadableJobs;
  readonly gateTurns: GateTurns;
};

/** Takes due jobs within an open transaction: the index finds them, the caller's rules decide, the commit guards. */
export function claim(db: Session, hints: ClaimHints, request: ClaimRequest): Claimed {
  const { reading, unreadable, gateTurns } = hints;
  const { worker, lanes, limit, afterTenant, tenantId, except = [], decide } = request;
  const now = db.now();
  const { alive, paused } = begin(db, worker.incarnation, now);
  if (!alive) return { now, alive, jobs: [], lastTenant: afterTenant };
  // Claims come one after the other, so nobody else takes from these rates meanwhile.
  const rates = new Rates(
    lanes,
    ({ name, ...rate }) =>
      record(db, { kind: 'rate', tenantId: rate.tenantId, id: name }).record?.body ?? '[]',
    now,
  );
  const open = rates.open(lanes.filter(({ lane }) => !paused.has(queueOf(lane))));
  unreadable.tryAgain(now);
  const leftOut = except.length === 0 ? unreadable.leftOut : [...unreadable.leftOut, ...except];
  const few =
    tenantId === undefined ? fewDue(db, { lanes: open, limit, now, leftOut, whole: reading.pays }) : null;
  const search = { lanes: open, rates, now, leftOut, gateTurns };
  const due = few ? allDue(few) : ofTenant(dueIn(db, search), tenantId);
  const { picked, lastTenant } = takeTurns(due, { afterTenant, limit });
  const taken = picked.filter(({ lane, tenant_id }) => rates.take(lane, tenant_id));
  const claims: NewClaim[] = [];
  const jobs: Job[] = [];
  const loaded = loadIdle(db, { reading, unreadable, now }, taken);
  if (few === null) reading.foundCrowd();
  for (const [index, found] of loaded.entries()) {
    const { id, lane, tenant_id } = must(taken[index], 'one is loaded for each');
    const item = found && decide(found, now);
    if (!found || !item?.job) {
      rates.giveBack(lane, tenant_id);
      continue;
    }
    claims.push({ id, before: found.job, item });
    jobs.push(item.job);
  }
  saveClaims(db, claims);
  saveUses(db, rates);
  return { now, alive, jobs, lastTenant, ...rates.freeAt };
}

function saveUses(db: Session, rates: Rates): void {
  for (const { tenantId, name, body } of rates.used()) {
    db.run(
      `INSERT INTO records (kind, tenant_id, id, version, body) VALUES ('rate', ?, ?, 1, ?)
       ON CONFLICT DO UPDATE SET version = version + 1, body = excluded.body`,
      tenantId,
      name,
      body,
    );
  }
}

/** How many timers become ready with one claim: enough for a herd, few enough to be done in some milliseconds. */
const MOST_TIMERS = 2_000;

const DUE_TIMERS = 'FROM jobs WHERE ready = 0 AND held = 0 AND due_at IS NOT NULL AND due_at <= ?';

/**
 * Whether the worker lives, and what is paused; and jobs whose time has come enter the claim index. Until then they are in
 * nobody's way. Looked first, and at all of it in one statement: most claims find nothing, and statements are what an idle worker's
 * claim consists of.
 */
function begin(
  db: Session,
  incarnation: string,
  now: number,
): { readonly alive: boolean; readonly paused: ReadonlySet<string> } {
  const found = db.get<Record<'alive' | 'timers' | 'pauses', number>>(
    `SELECT EXISTS (SELECT 1 FROM workers WHERE incarnation = ? AND dead = 0) AS alive,
     EXISTS (SELECT 1 ${DUE_TIMERS}) AS timers, EXISTS (SELECT 1 FROM paused_queues) AS pauses`,
    incarnation,
    now,
  );
  if (found?.alive !== 1) return { alive: false, paused: new Set() };
  if (found.timers === 1) {
    const some = `SELECT id ${DUE_TIMERS} ORDER BY due_at LIMIT +?`;
    db.run(`UPDATE jobs SET ready = 1 WHERE id IN (${some})`, now, MOST_TIMERS);
  }
  const pauses = found.pauses === 1 ? db.all<{ queue: string }>('SELECT queue FROM paused_queues') : [];
  return { alive: true, paused: new Set(pauses.map(({ queue }) => queue)) };
}

type Search = {
  readonly lanes: readonly ClaimLane[];
  readonly rates: Rates;
  readonly now: number;
  readonly leftOut: readonly string[];
  readonly gateTurns: GateTurns;
};

/** Looks lane by lane: each is one stretch of the claim index, and jobs of unknown tasks are never stepped over. */
function dueIn(db: Session, { lanes, rates, now, leftOut, gateTurns }: Search): DueJobs<Candidate> {
  const byName = new Map(lanes.map((lane) => [lane.lane, lane]));
  const known = new Map<string, readonly string[]>();
  /** Of one claim always the same, however often it asks. */
  const gatesIn = (lane: string, tenant: string): readonly string[] => {
    const name = `${lane}\u0000${tenant}`;
    const gates = known.get(name) ?? gatesOf(db, { lane, tenant }, gateTurns);
    known.set(name, gates);
    return gates;
  };
  return {
    tenantsAfter(after, limit) {
      const tenants = new Set<string>();
      for (const { lane } of lanes) {
        let last = after;
        for (let found = 0; found < limit; found++) {
          const next = db.get<{ tenant_id: string }>(
            'SELECT tenant_id FROM jobs WHERE ready = 1 AND lane = ? AND tenant_id > ? ORDER BY tenant_id LIMIT 1',
            lane,
            last,
          );
          if (!next) break;
          last = next.tenant_id;
          tenants.add(last);
        }
      }
      return [...tenants].toSorted().slice(0, limit);
    },
    of(tenantId, limit) {
      const room = new TenantRoom(useOf(db, tenantId, rates));
      const candidates = lanes
        .filter((lane) => room.ofLane(lane) > 0)
        .flatMap((open) => {
          const { lane } = open;
          const gates = room.ofGates(open) > 0 ? ['', ...gatesIn(lane, tenantId)] : [''];
          return gates.flatMap((gate) => {
            const most = Math.min(limit, room.of(open, gate));
            return most > 0 ? dueAt(db, { lane, tenantId, gate, now, limit: most, leftOut }) : [];
          });
        });
      return candidates
        .toSorted(inTurn)
        .filter(({ lane, gate }) => room.take(must(byName.get(lane), 'it was found in a lane'), gate))
        .slice(0, limit);
    },
  };
}

function useOf(db: Session, tenantId: string, rates: Rates): TenantUse {
  const running = (condition: string, ...gates: readonly string[]): number =>
    db.get<{ count: number }>(
      `SELECT count(*) AS count FROM jobs WHERE incarnation IS NOT NULL AND gate <> '' AND tenant_id = ? AND ${condition}`,
      tenantId,
      ...gates,
    )?.count ?? 0;
  return {
    running: (gate) => running('gate = ?', gate),
    runningOf: (taskGate) => running('gate >= ? AND gate < ?', taskGate, behindTaskGate(taskGate)),
    rateRoom: (lane) => rates.room(lane, tenantId),
  };
}

const NEXT_GATE = 'SELECT gate FROM jobs WHERE ready = 1 AND lane = ? AND tenant_id = ? AND gate > ?';

/** The keys that have due jobs, from where the last claim stopped, and around. Those of finished jobs leave the index. */
function gatesOf(db: Session, part: { lane: string; tenant: string }, gateTurns: GateTurns): string[] {
  const { lane, tenant } = part;
  const behind = gateTurns.after(part);
  const gates: string[] = [];
  const step = (from: string, upTo: string | null): void => {
    for (let last: string | undefined = from; last !== undefined && gates.length < MOST_GATES;) {
      const next: { gate: string } | undefined =
        upTo === null
          ? db.get(`${NEXT_GATE} ORDER BY gate LIMIT 1`, lane, tenant, last)
          : db.get(`${NEXT_GATE} AND gate <= ? ORDER BY gate LIMIT 1`, lane, tenant, last, upTo);
      last = next?.gate;
      if (last !== undefined) gates.push(last);
    }
  };
  step(behind, null);
  if (behind !== '') step('', behind);
  gateTurns.looked(part, { gate: gates.at(-1) ?? '', count: gates.length, most: MOST_GATES });
  return gates;
}
