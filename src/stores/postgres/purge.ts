import type { Status } from '../../kernel/index.js';
import type { Identity, PurgePage, Purged, Reply } from '../../ports/store.js';
import { isOld } from '../retention.js';
import type { Queries } from './session.js';

type Looked = {
  readonly jobId: string;
  readonly task: string;
  readonly status: Status;
  readonly finishedAt: number | null;
  readonly isOpen: boolean;
};

/** Walks the jobs in the order of their ids, which is that of time. What ended long ago goes with all that is its own. */
export async function purge(db: Queries, page: PurgePage): Promise<Reply<Purged>> {
  const { identityTtlMs, limit, after } = page;
  const now = await db.now();
  const looked = await db.rows<Looked>(
    `SELECT j.job_id AS "jobId", j.task, j.status, j.finished_at AS "finishedAt", EXISTS
     (SELECT 1 FROM pawl.dlq_items d WHERE d.job_id = j.job_id AND d.status = 'open') AS "isOpen"
     FROM pawl.jobs j WHERE j.job_id > $1 ORDER BY j.job_id LIMIT $2`,
    [after ?? '', limit],
  );
  const ids = await hold(
    db,
    looked.filter((job) => !job.isOpen && isOld(page, job)).map(({ jobId }) => jobId),
  );
  if (ids.length > 0) await deleteJobs(db, { ids, until: now + identityTtlMs });
  const expired = await db.rows('DELETE FROM pawl.identities WHERE expires_at <= $1 RETURNING 1', [now]);
  const next = looked.length === limit ? (looked.at(-1)?.jobId ?? null) : null;
  return { now, jobs: ids.length, identities: expired.length, next };
}

/** Waits for whoever is writing to them just now, and leaves out what another purge was faster with. */
async function hold(db: Queries, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db.rows<{ job_id: string }>(
    'SELECT job_id FROM pawl.jobs WHERE job_id = ANY($1) ORDER BY job_id FOR UPDATE',
    [ids],
  );
  return rows.map(({ job_id }) => job_id);
}

async function deleteJobs(
  db: Queries,
  { ids, until }: { ids: readonly string[]; until: number },
): Promise<void> {
  const owned = await db.rows<{ job_id: string; owns: string }>(
    'SELECT job_id, owns FROM pawl.log WHERE job_id = ANY($1) AND rev = 1 AND owns IS NOT NULL',
    [ids],
  );
  const identities = owned.flatMap(({ job_id, owns }) =>
    (JSON.parse(owns) as Identity[]).map((identity) => ({ jobId: job_id, ...identity })),
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
  for (const table of ['log', 'effects', 'inbox', 'holds', 'jobs']) {
    await db.rows(`DELETE FROM pawl.${table} WHERE job_id = ANY($1)`, [ids]);
  }
}
