/** What a store can be asked about the jobs that are due in one lane. */
export interface DueJobs<T> {
  /** Up to `limit` tenants with due jobs, in order, behind `after`. */
  tenantsAfter(after: string, limit: number): readonly string[];
  /** A tenant's due jobs, highest priority first, then longest due. */
  of(tenantId: string, limit: number): readonly T[];
}

/** The same, of one tenant; of all without one. */
export function ofTenant<T>(due: DueJobs<T>, tenantId: string | undefined): DueJobs<T> {
  if (tenantId === undefined) return due;
  return {
    tenantsAfter: (after) => (tenantId > after ? [tenantId] : []),
    of: (tenant, limit) => due.of(tenant, limit),
  };
}

/** The same, where all of them are at hand, in turn within each tenant. */
export function allDue<T extends { readonly tenant_id: string }>(all: readonly T[]): DueJobs<T> {
  const tenants = [...new Set(all.map(({ tenant_id }) => tenant_id))].toSorted();
  return {
    tenantsAfter: (after, limit) => tenants.filter((tenant) => tenant > after).slice(0, limit),
    of: (tenantId, limit) => all.filter(({ tenant_id }) => tenant_id === tenantId).slice(0, limit),
  };
}

export type Turns<T> = { readonly picked: readonly T[]; readonly lastTenant: string };

/** How often a claim looks further when the tenants it met had nothing that may run: bounds the time it takes. */
const MOST_PAGES = 20;

/**
 * Picks due jobs so that tenants take turns: a noisy one gets what others leave. The cost depends on what is picked,
 * not on how many tenants or jobs are waiting.
 */
export function takeTurns<T>(
  due: DueJobs<T>,
  { afterTenant, limit }: { afterTenant: string; limit: number },
): Turns<T> {
  let after = afterTenant;
  const looked = new Set<string>();
  for (let page = 0; page < MOST_PAGES; page++) {
    const tenants = nextTenants(due, { after, limit });
    if (isAround(looked, tenants)) break;
    const turns = shareOut(due, { tenants, limit, after });
    if (turns.picked.length > 0 || tenants.length < limit) return turns;
    after = tenants.at(-1) ?? after;
  }
  return { picked: [], lastTenant: after };
}

/** The way has come to tenants that were looked at before. Adds the others. */
export function isAround(looked: Set<string>, tenants: readonly string[]): boolean {
  const [first] = tenants;
  if (first !== undefined && looked.has(first)) return true;
  for (const tenant of tenants) looked.add(tenant);
  return false;
}

/** Those behind the last one, then from the beginning again. */
function nextTenants<T>(due: DueJobs<T>, { after, limit }: { after: string; limit: number }): string[] {
  const tenants = [...due.tenantsAfter(after, limit)];
  if (tenants.length < limit && after !== '') {
    for (const tenant of due.tenantsAfter('', limit)) {
      if (tenants.length < limit && !tenants.includes(tenant)) tenants.push(tenant);
    }
  }
  return tenants;
}

function shareOut<T>(
  due: DueJobs<T>,
  { tenants, limit, after }: { tenants: readonly string[]; limit: number; after: string },
): Turns<T> {
  const share = Math.max(1, Math.ceil(limit / Math.max(1, tenants.length)));
  const picked: T[] = [];
  let lastTenant = after;
  let hungry = tenants.map((tenant) => ({ tenant, jobs: due.of(tenant, share) }));
  for (let round = 0; hungry.length > 0 && picked.length < limit; round++) {
    // Whoever had more than a fair share may have what others left.
    if (round === share) hungry = hungry.map(({ tenant }) => ({ tenant, jobs: due.of(tenant, limit) }));
    let someEnded = false;
    for (const { tenant, jobs } of hungry) {
      if (picked.length >= limit) break;
      const job = jobs[round];
      someEnded ||= job === undefined;
      if (job === undefined) continue;
      picked.push(job);
      lastTenant = tenant;
    }
    if (someEnded) hungry = hungry.filter(({ jobs }) => jobs.length > round);
  }
  return { picked, lastTenant };
}
