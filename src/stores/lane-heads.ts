import type { LaneHead } from '../ports/store.js';

/** How many jobs that have become due are looked at, of those that no claim has met yet. */
export const MOST_TIMERS = 1_000;

/** Those of the claim index, and of lanes and tenants that have none there those whose time has come. By lane and tenant. */
export function allHeads(
  ready: readonly LaneHead[],
  timers: readonly LaneHead[],
  { limit }: { limit: number },
): LaneHead[] {
  if (timers.length === 0) return [...ready];
  const nameOf = ({ lane, tenantId }: LaneHead): string => `${lane}\u0000${tenantId}`;
  const heads = new Map([...timers, ...ready].map((head) => [nameOf(head), head]));
  return [...heads]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, head]) => head)
    .slice(0, limit);
}
