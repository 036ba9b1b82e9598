import { dlqIdOf, type Status } from '../../kernel/index.js';
import type { Aged, AgedPage, Identity, Purge, Purged, PurgeGuard, Reply } from '../../ports/store.js';
import { isForAPlace, isOld, isUnchanged, PLACE, WORKERS_KEPT_MS } from '../retention.js';
import type { Ending, Queries } from './session.js';

type Looked = {
  readonly jobId: string;
  readonly tenantId: string;
  readonly task: string;
  readonly status: Status;
  readonly finishedAt: number | null;
  readonly isOpen: boolean;
  readonly owns: string | null;
};

/** Walks the jobs in the order of their ids, which is that of time. */
export async function aged(db: Queries, page: AgedPage): Promise<Reply<Aged>> {
  const looked = await db.rows<Looked>(
    `SELECT j.job_id AS "jobId", j.tenant_id AS "tenantId", j.task, j.status, j.finished_at AS "finishedAt", j.owns, EXISTS
     (SELECT 1 FROM pawl.dlq_items d WHERE d.job_id = j.job_id AND d.status = 'open') AS "isOpen"
     FROM pawl.jobs j WHERE j.job_id > $1 ORDER BY j.job_id LIMIT $2`,
    [page.after ?? '', page.limit],
  );
  const jobs = looked.flatMap(({ isOpen, finishedAt, owns, ...job }) =>
    finishedAt !== null && !isOpen && isOld(page, { ...job, finishedAt })
      ? [{ ...job, finishedAt, identities: identitiesOf(owns) }]
      : [],
  );
  const next = looked.length === page.limit ? (looked.at(-1)?.jobId ?? null) : null;
  return { now: await db.now(), jobs, next };
}

/** What is deleted goes with all that is its own. */
export async function purge(db: Queries, { jobs, identityTtlMs }: Purge): Promise<Ending<Reply<Purged>>> {
  const now = await db.now();
  const ids = await hold(db, jobs);
  if (ids.length > 0) await deleteJobs(db, { ids, until: now + identityTtlMs });
  const expired = await db.rows('DELETE FROM pawl.identities WHERE expires_at <= $1 RETURNING 1', [now]);
  await db.rows(
    `DELETE FROM pawl.workers w WHERE w.dead AND w.lease_until < $1 AND NOT EXISTS
     (SELECT 1 FROM pawl.jobs j WHERE j.incarnation = w.incarnation)`,
    [now - WORKERS_KEPT_MS],
  );
  const last = ids.length > 0 ? takeNumber(db) : null;
  return { answer: { now, jobs: ids.length, identities: expired.length }, last };
}

/**
 * Waits for whoever is writing to them just now, and leaves out what another purge was faster with. Whoever has a message
 * or a result for a job holds its row: once it is locked here, what was counted stays so.
 */
async function hold(db: Queries, jobs: Purge['jobs']): Promise<string[]> {
  if (jobs.length === 0) return [];
  const ended = await db.rows<{ job_id: string; inbox_rev: number }>(
    `SELECT job_id, inbox_rev FROM pawl.jobs WHERE job_id = ANY($1) AND finished_at IS NOT NULL
     ORDER BY job_id FOR UPDATE`,
    [jobs.map(({ jobId }) => jobId)],
  );
  const guards = new Map(jobs.map(({ jobId, guard }) => [jobId, guard]));
  const places = new Map(jobs.flatMap(({ jobId, place }) => (place === undefined ? [] : [[jobId, place]])));
  const owners = places.size === 0 ? places : await placeOwners(db, [...places.keys()]);
  const guarded = ended.filter(({ job_id }) => guards.get(job_id));
  const ledgers = guarded.length === 0 ? [] : await countEffects(db, guarded);
  const ledgerOf = new Map(ledgers.map(({ job_id, effects, results }) => [job_id, { effects, results }]));
  return ended
    .filter(({ job_id, inbox_rev }) => {
      if (places.has(job_id) && places.get(job_id) !== (owners.get(job_id) ?? null)) return false;
      const ledger = ledgerOf.get(job_id) ?? { effects: 0, results: 0 };
      return isUnchanged(guards.get(job_id) ?? null, { inboxRev: inbox_rev, ...ledger });
    })
    .map(({ job_id }) => job_id);
}

/** Who has taken the places of jobs. Whoever needs the job for that waits for its lock, or has had it: what this sees stays so. */
async function placeOwners(db: Queries, jobIds: readonly string[]): Promise<Map<string, string | null>> {
  const rows = await db.rows<{ job_id: string; owner: string }>(
    `SELECT j.job_id, i.job_id AS owner FROM pawl.jobs j JOIN pawl.identities i
     ON i.tenant_id = j.tenant_id AND i.kind = $1 AND i.value = j.job_id WHERE j.job_id = ANY($2)`,
    [PLACE, jobIds],
  );
  return new Map(rows.map(({ job_id, owner }) => [job_id, owner]));
}

/** A statement of its own: it must see what was committed before the lock. */
async function countEffects(
  db: Queries,
  jobs: readonly { readonly job_id: string }[],
): Promise<({ readonly job_id: string } & Pick<PurgeGuard, 'effects' | 'results'>)[]> {
  return db.rows(
    `SELECT job_id, count(*)::int AS effects, count(result)::int AS results FROM pawl.effects
     WHERE job_id = ANY($1) GROUP BY job_id`,
    [jobs.map(({ job_id }) => job_id)],
  );
}

/**
 * Records that look nothing up are over before that, or see it. They stand still meanwhile, so that COMMIT travels right behind. Who only
 * reads, as a dump does for hours, is not in the way.
 */
function takeNumber(db: Queries): Promise<unknown> {
  return Promise.all([
    db.rows('LOCK TABLE pawl.purges IN EXCLUSIVE MODE'),
    db.rows(
      'INSERT INTO pawl.purges (number) VALUES (1) ON CONFLICT (one) DO UPDATE SET number = purges.number + 1',
    ),
  ]);
}

async function deleteJobs(
  db: Queries,
  { ids, until }: { ids: readonly string[]; until: number },
): Promise<void> {
  const owners = await db.rows<{
    job_id: string;
    tenant_id: string;
    owns: string | null;
    created_xid: string;
  }>('SELECT job_id, tenant_id, owns, created_xid FROM pawl.jobs WHERE job_id = ANY($1)', [ids]);
  const identities = owners.flatMap(({ job_id, owns }) =>
    identitiesOf(owns)
      .filter((identity) => !isForAPlace(identity))
      .map((identity) => ({ jobId: job_id, ...identity })),
  );
  // A start that comes again meanwhile is still recognised.
  await db.rows(
    `UPDATE pawl.identities i SET expires_at = $5 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS o (t, k, v, j)
     WHERE i.tenant_id = o.t AND i.kind = o.k AND i.value = o.v AND i.job_id = o.j`,
    [
      identities.map(({ tenantId }) => tenantId),
      identities.map(({ kind }) => kind),
      identities.map(({ value }) => value),
      identities.map(({ jobId }) => jobId),
      until,
    ],
  );
  await db.rows(
    `DELETE FROM pawl.identities i USING unnest($2::text[], $3::text[]) AS gone (t, v)
     WHERE i.tenant_id = gone.t AND i.kind = $1 AND i.value = gone.v`,
    [PLACE, owners.map(({ tenant_id }) => tenant_id), owners.map(({ job_id }) => job_id)],
  );
  await deleteGates(db, ids);
  for (const table of ['log', 'effects', 'inbox', 'holds', 'jobs']) {
    await db.rows(`DELETE FROM pawl.${table} WHERE job_id = ANY($1)`, [ids]);
  }
  await db.rows('DELETE FROM pawl.dlq_items WHERE dlq_id = ANY($1)', [ids.map(dlqIdOf)]);
  await unlist(db, ids, [...new Set(owners.map(({ created_xid }) => created_xid))]);
}

/** What lists the jobs that were created together goes with the last of them. */
async function unlist(db: Queries, ids: readonly string[], xids: readonly string[]): Promise<void> {
  await db.rows(
    `UPDATE pawl.created SET job_ids = ARRAY(SELECT id FROM unnest(job_ids) AS id WHERE id <> ALL($2::text[]))
     WHERE xid = ANY($1::xid8[]) AND job_ids && $2::text[]`,
    [xids, ids],
  );
  await db.rows(`DELETE FROM pawl.created WHERE xid = ANY($1::xid8[]) AND job_ids = '{}'`, [xids]);
}

/**
 * The rows that claims lock to count what runs under a concurrency key: whoever needs one again makes it. One that is locked
 * just now stays until the next job of its key is deleted.
 */
async function deleteGates(db: Queries, ids: readonly string[]): Promise<void> {
  await db.rows(
    `DELETE FROM pawl.gates WHERE (tenant_id, gate) IN (SELECT tenant_id, gate FROM pawl.gates
     WHERE (tenant_id, gate) IN (SELECT tenant_id, gate FROM pawl.jobs WHERE job_id = ANY($1) AND gate <> '')
     ORDER BY tenant_id, gate FOR UPDATE SKIP LOCKED)`,
    [ids],
  );
}

const identitiesOf = (owns: string | null): Identity[] => JSON.parse(owns ?? '[]') as Identity[];
