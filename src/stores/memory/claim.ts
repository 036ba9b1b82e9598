import { must, queueOf, type Job, type JobRow, type Timestamp } from '../../kernel/index.js';
import type { Claimed, ClaimRequest, LaneHead } from '../../ports/store.js';
import { takeTurns } from '../fair-turns.js';
import { Rates, type RateRef } from '../rates.js';
import { TenantRoom, type TenantUse } from '../tenant-room.js';
import { save } from './commit.js';
import { byText, loadKept, type Kept, type Tables } from './tables.js';

export function claim(tables: Tables, request: ClaimRequest, now: Timestamp): Claimed {
  const { worker, lanes, limit, afterTenant, tenantId, except = [], decide } = request;
  const alive = tables.leases.get(worker.incarnation)?.dead === false;
  if (!alive) return { now, alive, jobs: [], lastTenant: afterTenant };

  const rates = new Rates(lanes, (ref) => tables.rates.get(rateKey(ref)) ?? '[]', now);
  const open = new Map(
    rates.open(lanes.filter(({ lane }) => !tables.paused.has(queueOf(lane)))).map((one) => [one.lane, one]),
  );
  const due = [...tables.jobs.values()].filter(
    ({ row, held }) =>
      held === null &&
      row.tenantId === (tenantId ?? row.tenantId) &&
      open.has(row.lane) &&
      isDue(row, now) &&
      !except.includes(row.jobId),
  );
  const { picked, lastTenant } = takeTurns(
    {
      tenantsAfter: (after, most) => {
        const tenants = new Set(due.map(({ row }) => row.tenantId).filter((tenant) => tenant > after));
        return [...tenants].toSorted().slice(0, most);
      },
      of: (tenant, most) => {
        const theirs = due.filter(({ row }) => row.tenantId === tenant).toSorted(inTurn);
        const room = new TenantRoom(useOf(tables, tenant, rates));
        const fits = ({ row: { lane, gate } }: Kept) =>
          room.take(must(open.get(lane), 'its lane is open'), gate);
        return theirs.filter(fits).slice(0, most);
      },
    },
    { afterTenant, limit },
  );
  const jobs = picked.flatMap((kept): Job[] => {
    const { lane, tenantId: tenant } = kept.row;
    if (!rates.take(lane, tenant)) return [];
    const item = decide(loadKept(kept), now);
    if (item?.job && save(tables, item).ok) return [item.job];
    rates.giveBack(lane, tenant);
    return [];
  });
  for (const { body, ...ref } of rates.used()) tables.rates.set(rateKey(ref), body);
  return { now, alive, jobs, lastTenant, ...rates.freeAt };
}

/** The first that is due of each lane and tenant. */
export function laneHeads({ jobs }: Tables, now: Timestamp): LaneHead[] {
  const due = [...jobs.values()].filter(({ row, held }) => held === null && isDue(row, now));
  const first = new Map<string, LaneHead>();
  for (const { row } of due.toSorted((a, b) => byText(a.row.gate, b.row.gate) || inTurn(a, b))) {
    const { lane, tenantId, dueAt } = row;
    const key = JSON.stringify([lane, tenantId]);
    if (!first.has(key)) first.set(key, { lane, tenantId, dueAt: dueAt ?? 0 });
  }
  return [...first.values()].toSorted((a, b) => byText(a.lane, b.lane) || byText(a.tenantId, b.tenantId));
}

function isDue({ dueAt, deadlineAt }: JobRow, now: Timestamp): boolean {
  return dueAt !== null && dueAt <= now && (deadlineAt === null || now < deadlineAt);
}

function inTurn({ row: a }: Kept, { row: b }: Kept): number {
  return b.priority - a.priority || (a.dueAt ?? 0) - (b.dueAt ?? 0) || byText(a.jobId, b.jobId);
}

function useOf({ jobs }: Tables, tenant: string, rates: Rates): TenantUse {
  const runningIf = (counts: (gate: string) => boolean): number =>
    [...jobs.values()].filter(
      ({ row }) => row.incarnation !== null && row.tenantId === tenant && counts(row.gate),
    ).length;
  return {
    running: (gate) => runningIf((other) => other === gate),
    runningOf: (taskGate) => runningIf((other) => other.startsWith(taskGate)),
    rateRoom: (lane) => rates.room(lane, tenant),
  };
}

const rateKey = ({ tenantId, name }: RateRef): string => `${tenantId}\u0000${name}`;
