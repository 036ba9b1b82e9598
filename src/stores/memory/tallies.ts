import type { LiveCount, Store, TenantCount } from '../../ports/store.js';
import { byText, type Tables } from './tables.js';

type Tallies = Pick<Store, 'retrying' | 'countLive' | 'liveCounts' | 'dlqOpen' | 'dlqEntered'>;

/** How many there are of what, by tenant. */
export function tallies({ jobs, dlq }: Tables, now: () => number): Tallies {
  return {
    async retrying({ atLeast }) {
      const found = [...jobs.values()].filter(({ row }) => row.status === 'retrying');
      return { now: now(), tenants: byTenant(found.map(({ row }) => row.tenantId)).filter(has(atLeast)) };
    },
    async countLive({ tenantId, atMost }) {
      const live = [...jobs.values()].filter(
        ({ row }) => row.tenantId === tenantId && row.finishedAt === null,
      );
      return { now: now(), count: Math.min(live.length, atMost) };
    },
    async liveCounts() {
      const counts = new Map<string, LiveCount>();
      for (const { row } of jobs.values()) {
        const { tenantId, status, finishedAt } = row;
        if (finishedAt !== null) continue;
        const key = JSON.stringify([tenantId, status]);
        counts.set(key, { tenantId, status, count: (counts.get(key)?.count ?? 0) + 1 });
      }
      const inOrder = [...counts.values()].toSorted(
        (a, b) => byText(a.tenantId, b.tenantId) || byText(a.status, b.status),
      );
      return { now: now(), counts: inOrder };
    },
    async dlqOpen() {
      const open = [...dlq.values()].filter(({ status }) => status === 'open');
      return { now: now(), tenants: byTenant(open.map(({ tenantId }) => tenantId)) };
    },
    async dlqEntered({ from, until, atLeast }) {
      const found = [...dlq.values()].filter(({ createdAt }) => createdAt >= from && createdAt < until);
      return { now: now(), tenants: byTenant(found.map(({ tenantId }) => tenantId)).filter(has(atLeast)) };
    },
  };
}

function byTenant(tenantIds: readonly string[]): TenantCount[] {
  const counts = new Map<string, number>();
  for (const tenantId of tenantIds) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
  return [...counts]
    .map(([tenantId, count]) => ({ tenantId, count }))
    .toSorted((a, b) => byText(a.tenantId, b.tenantId));
}

function has(atLeast: number): (one: TenantCount) => boolean {
  return ({ count }) => count >= atLeast;
}
