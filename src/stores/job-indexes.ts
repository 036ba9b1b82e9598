import { isTerminal, type Status } from '../kernel/index.js';

/*
 * Most jobs succeed, and most belong to the one tenant of those who know of none: neither is in an index that lists are read from,
 * so that a job on the usual way pays for no list (decision 54).
 */

/** As SQL: the tenants whose jobs have an index of their own. */
export const OF_OTHER_TENANTS = "tenant_id <> 'default'";
/** As SQL: the jobs that have ended, but not well. */
export const ENDED_OTHERWISE = "finished_at IS NOT NULL AND status <> 'succeeded'";

export const hasIndex = (tenantId: string | null): tenantId is string =>
  tenantId !== null && tenantId !== 'default';

/** States whose jobs are found by indexes, apart by which; null: one of them is that of most jobs, or nothing was said. */
export function indexedStates(
  statuses: readonly Status[] | null,
): { readonly ended: readonly Status[]; readonly live: readonly Status[] } | null {
  if (statuses === null || statuses.includes('succeeded')) return null;
  return {
    ended: statuses.filter(isTerminal),
    live: statuses.filter((status) => !isTerminal(status)),
  };
}

/** Counts of what indexes have, and of all there are, whose status is null: the others have succeeded. */
export function countsOf(
  rows: readonly { readonly status: Status | null; readonly count: number }[],
): Partial<Record<Status, number>> {
  const counts: Partial<Record<Status, number>> = {};
  let succeeded = 0;
  for (const { status, count } of rows) {
    succeeded += status === null ? count : -count;
    if (status !== null) counts[status] = count;
  }
  return succeeded > 0 ? { ...counts, succeeded } : counts;
}
