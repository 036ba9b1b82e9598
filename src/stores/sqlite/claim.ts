import { behindTaskGate, must, queueOf, type Job } from '../../kernel/index.js';
import type { Claimed, ClaimLane, ClaimRequest } from '../../ports/store.js';
import { ofTenant, takeTurns, type DueJobs } from '../fair-turns.js';
import { Rates } from '../rates.js';
import { TenantRoom, type TenantUse } from '../tenant-room.js';
import { saveClaims, type NewClaim } from './commit.js';
import { loadIdle } from './load.js';
import { record } from './records.js';
import type { Session } from './session.js';

/** A due job: where it stands in its turn, and which revision of it. */
type Candidate = {
  readonly id: number;
  readonly job_id: string;
  readonly rev: number;
  readonly created_at: number;
  readonly inbox_rev: number;
  readonly priority: number;
  readonly due_at: number;
  readonly gate: string;
  readonly lane: string;
  readonly tenant_id: string;
};

/** Takes due jobs within an open transaction: the index finds them, the caller's rules decide, the commit guards. */
export function claim(db: Session, request: ClaimRequest): Claimed {
  const { worker, lanes, limit, afterTenant, tenantId, decide } = request;
  const now = db.now();
  const alive =
    db.get('SELECT 1 FROM workers WHERE incarnation = ? AND dead = 0', worker.incarnation) !== undefined;
  if (!alive) return { now, alive, jobs: [], lastTenant: afterTenant };

  readyTimers(db, now);
  const paused = new Set(
    db.all<{ queue: string }>('SELECT queue FROM paused_queues').map(({ queue }) => queue),
  );
  // Claims come one after the other, so nobody else takes from these rates meanwhile.
  const rates = new Rates(
    lanes,
    ({ name, ...rate }) =>
      record(db, { kind: 'rate', tenantId: rate.tenantId, id: name }).record?.body ?? '[]',
    now,
  );
  const open = rates.open(lanes.filter(({ lane }) => !paused.has(queueOf(lane))));
  const due = ofTenant(dueIn(db, { lanes: open, rates, now }), tenantId);
  const { picked, lastTenant } = takeTurns(due, { afterTenant, limit });
  const taken = picked.filter(({ lane, tenant_id }) => rates.take(lane, tenant_id));
  const claims: NewClaim[] = [];
  const jobs: Job[] = [];
  for (const [index, found] of loadIdle(db, taken).entries()) {
    const item = decide(found, now);
    if (!item?.job) continue;
    claims.push({ id: must(taken[index], 'one is loaded for each').id, before: found.job, item });
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

const DUE_TIMERS =
  'FROM jobs WHERE ready = 0 AND held = 0 AND due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT +?';

/**
 * Jobs whose time has come enter the claim index. Until then they are in nobody's way. Looked first: an update that finds
 * nothing took a tenth of a millisecond of an idle worker's claim.
 */
function readyTimers(db: Session, now: number): void {
  if (db.get(`SELECT 1 ${DUE_TIMERS}`, now, 1) === undefined) return;
  db.run(`UPDATE jobs SET ready = 1 WHERE id IN (SELECT id ${DUE_TIMERS})`, now, MOST_TIMERS);
}

type Search = { readonly lanes: readonly ClaimLane[]; readonly rates: Rates; readonly now: number };

/** Looks lane by lane: each is one stretch of the claim index, and jobs of unknown tasks are never stepped over. */
function dueIn(db: Session, { lanes, rates, now }: Search): DueJobs<Candidate> {
  const byName = new Map(lanes.map((lane) => [lane.lane, lane]));
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
        .flatMap((known) => {
          const { lane } = known;
          const gates = room.ofGates(known) > 0 ? ['', ...gatesOf(db, { lane, tenantId })] : [''];
          return gates.flatMap((gate) => {
            const most = Math.min(limit, room.of(known, gate));
            return most > 0 ? dueAt(db, { lane, tenantId, gate, now, limit: most }) : [];
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

/** How many concurrency keys of one tenant a claim looks at. Those of finished jobs leave the index, so the rest come. */
const MOST_GATES = 1_000;

function gatesOf(db: Session, { lane, tenantId }: { lane: string; tenantId: string }): string[] {
  const gates: string[] = [];
  for (let last = ''; gates.length < MOST_GATES;) {
    const next = db.get<{ gate: string }>(
      'SELECT gate FROM jobs WHERE ready = 1 AND lane = ? AND tenant_id = ? AND gate > ? ORDER BY gate LIMIT 1',
      lane,
      tenantId,
      last,
    );
    if (!next) break;
    last = next.gate;
    gates.push(last);
  }
  return gates;
}

type Stretch = {
  readonly lane: string;
  readonly tenantId: string;
  readonly gate: string;
  readonly now: number;
  readonly limit: number;
};

type DueTuple = readonly [
  id: number,
  jobId: string,
  rev: number,
  createdAt: number,
  inboxRev: number,
  priority: number,
  dueAt: number,
];

function dueAt(db: Session, { lane, tenantId, gate, now, limit }: Stretch): Candidate[] {
  const tuples = db.tuples<DueTuple>(
    `SELECT id, job_id, rev, created_at, inbox_rev, priority, due_at FROM jobs
     WHERE ready = 1 AND lane = ? AND tenant_id = ? AND gate = ? AND (deadline_at IS NULL OR deadline_at > ?)
     ORDER BY priority DESC, due_at, job_id LIMIT +?`,
    lane,
    tenantId,
    gate,
    now,
    limit,
  );
  return tuples.map(([id, job_id, rev, created_at, inbox_rev, priority, due_at]) => ({
    id,
    job_id,
    rev,
    created_at,
    inbox_rev,
    priority,
    due_at,
    gate,
    lane,
    tenant_id: tenantId,
  }));
}

function inTurn(a: Candidate, b: Candidate): number {
  return b.priority - a.priority || a.due_at - b.due_at || (a.job_id < b.job_id ? -1 : 1);
}
