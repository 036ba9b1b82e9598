import type { Claimed, ClaimRequest, CommitItem } from '../../ports/store.js';
import { takeTurns } from '../fair-turns.js';
import { loadAll } from './load.js';
import type { Queries } from './session.js';
import { appendLog, updateJobs } from './write-rows.js';

type Candidate = { readonly job_id: string; readonly tenant_id: string };

/** Takes due jobs within a transaction: the index finds them, locks make them ours, the caller's rules decide. */
export async function claim(
  db: Queries,
  { worker, lanes, limit, afterTenant, decide }: ClaimRequest,
): Promise<Claimed> {
  const now = await db.now();
  const alive = await db.rows('SELECT 1 FROM pawl.workers WHERE incarnation = $1 AND NOT dead FOR SHARE', [
    worker.incarnation,
  ]);
  if (alive.length === 0) return { now, alive: false, jobs: [], lastTenant: afterTenant };

  const { picked, lastTenant } = await pick(db, { lanes, limit, afterTenant, now });
  const found = await loadAll(
    db,
    picked.map(({ job_id }) => job_id),
  );
  const items = found
    .map((loaded) => decide(loaded, now))
    .filter((item): item is CommitItem => item !== null);
  if (items.length === 0) return { now, alive: true, jobs: [], lastTenant };
  await appendLog(db, items);
  const jobs = items.flatMap(({ job }) => job ?? []);
  await updateJobs(db, jobs);
  return { now, alive: true, jobs, lastTenant };
}

type Search = {
  readonly lanes: readonly string[];
  readonly limit: number;
  readonly afterTenant: string;
  readonly now: number;
};

/** Steps from tenant to tenant through the claim index, and takes the first jobs of each. */
async function pick(
  db: Queries,
  { lanes, limit, afterTenant, now }: Search,
): Promise<{ picked: readonly Candidate[]; lastTenant: string }> {
  const tenantsAfter = async (after: string): Promise<string[]> =>
    (
      await db.rows<{ tenant_id: string }>(
        `WITH RECURSIVE turn (tenant_id, n) AS (
           SELECT (SELECT min(j.tenant_id) FROM pawl.jobs j WHERE j.lane = ANY($1) AND j.tenant_id > $2 AND j.due_at <= $3
             AND (j.deadline_at IS NULL OR j.deadline_at > $3)), 1
           UNION ALL
           SELECT (SELECT min(j.tenant_id) FROM pawl.jobs j WHERE j.lane = ANY($1) AND j.tenant_id > turn.tenant_id AND j.due_at <= $3
             AND (j.deadline_at IS NULL OR j.deadline_at > $3)), n + 1
           FROM turn WHERE turn.tenant_id IS NOT NULL AND n < $4)
         SELECT tenant_id FROM turn WHERE tenant_id IS NOT NULL`,
        [lanes, after, now, limit],
      )
    ).map(({ tenant_id }) => tenant_id);

  const behind = await tenantsAfter(afterTenant);
  const fromStart = afterTenant === '' || behind.length >= limit ? [] : await tenantsAfter('');
  const tenants = [...new Set([...behind, ...fromStart])];
  const share = Math.max(1, Math.ceil(limit / Math.max(1, tenants.length)));
  const candidates = await lockDue(db, { lanes, now, tenants, most: share, except: [] });
  if (candidates.length < limit) {
    const had = (tenant: string) => candidates.filter(({ tenant_id }) => tenant_id === tenant).length;
    const except = candidates.map(({ job_id }) => job_id);
    const hungry = tenants.filter((tenant) => had(tenant) === share);
    candidates.push(
      ...(await lockDue(db, { lanes, now, tenants: hungry, most: limit - candidates.length, except })),
    );
  }
  return takeTurns(
    {
      tenantsAfter: (after, most) => (after === '' && afterTenant !== '' ? fromStart : behind).slice(0, most),
      of: (tenant, most) => candidates.filter(({ tenant_id }) => tenant_id === tenant).slice(0, most),
    },
    { afterTenant, limit },
  );
}

type Stretch = {
  readonly lanes: readonly string[];
  readonly now: number;
  readonly tenants: readonly string[];
  readonly most: number;
  readonly except: readonly string[];
};

/** The first due jobs of each tenant that no other claim is at. Locked here, they are ours until the transaction ends. */
async function lockDue(db: Queries, { lanes, now, tenants, most, except }: Stretch): Promise<Candidate[]> {
  if (tenants.length === 0) return [];
  return db.rows<Candidate>(
    `SELECT c.job_id, t.tenant_id FROM unnest($2::text[]) AS t (tenant_id), LATERAL (
       SELECT j.job_id, j.priority, j.due_at FROM pawl.jobs j WHERE j.lane = ANY($1) AND j.tenant_id = t.tenant_id AND j.due_at <= $3
       AND (j.deadline_at IS NULL OR j.deadline_at > $3) AND j.job_id <> ALL($5)
       ORDER BY j.priority DESC, j.due_at, j.job_id LIMIT $4 FOR UPDATE SKIP LOCKED) c
     ORDER BY t.tenant_id, c.priority DESC, c.due_at, c.job_id`,
    [lanes, tenants, now, most, except],
  );
}
