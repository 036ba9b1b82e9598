import { queueOf, type Job, type JobRow, type Timestamp } from '../../kernel/index.js';
import type { Claimed, ClaimLane, ClaimRequest } from '../../ports/store.js';
import { takeTurns } from '../fair-turns.js';
import { Rates } from '../rates.js';
import { save } from './commit.js';
import { byText, loadKept, type Kept, type Tables } from './tables.js';

export function claim(tables: Tables, request: ClaimRequest, now: Timestamp): Claimed {
  const { worker, lanes, limit, afterTenant, tenantId, decide } = request;
  const alive = tables.leases.get(worker.incarnation)?.dead === false;
  if (!alive) return { now, alive, jobs: [], lastTenant: afterTenant };

  const rates = new Rates(lanes, tables.rates, now);
  const open = new Map(
    rates.open(lanes.filter(({ lane }) => !tables.paused.has(queueOf(lane)))).map((one) => [one.lane, one]),
  );
  const due = [...tables.jobs.values()].filter(
    ({ row, held }) =>
      held === null && row.tenantId === (tenantId ?? row.tenantId) && open.has(row.lane) && isDue(row, now),
  );
  const { picked, lastTenant } = takeTurns(
    {
      tenantsAfter: (after, most) => {
        const tenants = new Set(due.map(({ row }) => row.tenantId).filter((tenant) => tenant > after));
        return [...tenants].toSorted().slice(0, most);
      },
      of: (tenant, most) => {
        const theirs = due.filter(({ row }) => row.tenantId === tenant).toSorted(inTurn);
        return withinLimits(tables, theirs, open).slice(0, most);
      },
    },
    { afterTenant, limit },
  );
  const jobs = picked.flatMap((kept): Job[] => {
    if (!rates.take(kept.row.lane)) return [];
    const item = decide(loadKept(kept), now);
    return item?.job && save(tables, item).ok ? [item.job] : [];
  });
  for (const { name, body } of rates.used()) tables.rates.set(name, body);
  return { now, alive, jobs, lastTenant, ...rates.freeAt };
}

function isDue({ dueAt, deadlineAt }: JobRow, now: Timestamp): boolean {
  return dueAt !== null && dueAt <= now && (deadlineAt === null || now < deadlineAt);
}

function inTurn({ row: a }: Kept, { row: b }: Kept): number {
  return b.priority - a.priority || (a.dueAt ?? 0) - (b.dueAt ?? 0) || byText(a.jobId, b.jobId);
}

/** One tenant's jobs, without those whose concurrency key has no room left. */
function withinLimits(
  { jobs }: Tables,
  theirs: readonly Kept[],
  open: ReadonlyMap<string, ClaimLane>,
): Kept[] {
  const taken = new Map<string, number>();
  return theirs.filter(({ row: { gate, lane, tenantId } }) => {
    const keyLimit = open.get(lane)?.keyLimit ?? null;
    if (gate === '' || keyLimit === null) return true;
    const running =
      taken.get(gate) ??
      [...jobs.values()].filter(
        ({ row }) => row.incarnation !== null && row.gate === gate && row.tenantId === tenantId,
      ).length;
    taken.set(gate, Math.min(running + 1, keyLimit));
    return running < keyLimit;
  });
}
