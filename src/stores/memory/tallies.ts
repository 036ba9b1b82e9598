import type { Store, TenantCount } from '../../ports/store.js';
import { byText, type Tables } from './tables.js';

type Tallies = Pick<Store, 'retrying' | 'countLive' | 'dlqEntered'>;

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
