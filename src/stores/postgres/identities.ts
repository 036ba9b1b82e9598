import type { CommitItem, Identity } from '../../ports/store.js';
import type { Queries } from './session.js';

/** Identities are taken in one order, so that two starts cannot wait for each other. */
export function inOrder(a: Identity, b: Identity): number {
  return byText(a.tenantId, b.tenantId) || byText(a.kind, b.kind) || byText(a.value, b.value);
}

export const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/**
 * False: a job that has to be there is not. Until the transaction ends nobody can delete it. To be asked for before the names are taken:
 * a purge goes by the same order.
 */
export async function holdNeeded(db: Queries, { identities }: CommitItem): Promise<boolean> {
  const needed = [...new Set(identities.flatMap(({ needs }) => needs ?? []))];
  if (needed.length === 0) return true;
  const sql = 'SELECT 1 FROM pawl.jobs WHERE job_id = ANY($1) ORDER BY job_id FOR KEY SHARE';
  return (await db.rows(sql, [needed])).length === needed.length;
}

/**
 * False: one of them belongs to another job. Those before it have been taken. Only one that is to be taken over is locked: others who ask for
 * the same would have to wait until the application's transaction ends.
 */
export async function takeIdentities(db: Queries, { jobId, identities }: CommitItem): Promise<boolean> {
  for (const { tenantId, kind, value, replaces } of identities.toSorted(inOrder)) {
    const rows = await (replaces === undefined
      ? db.rows(`${TAKE} DO NOTHING RETURNING 1`, [tenantId, kind, value, jobId])
      : db.rows(`${TAKE} ${TAKE_OVER} RETURNING 1`, [tenantId, kind, value, jobId, replaces]));
    if (rows.length === 0) return false;
  }
  return true;
}

const TAKE =
  'INSERT INTO pawl.identities (tenant_id, kind, value, job_id) VALUES ($1, $2, $3, $4) ON CONFLICT (tenant_id, kind, value)';
const TAKE_OVER = 'DO UPDATE SET job_id = $4, expires_at = NULL WHERE identities.job_id = $5';

export async function ownersOf(db: Queries, identities: readonly Identity[]): Promise<(string | null)[]> {
  const rows = await db.rows<Identity & { tenant_id: string; job_id: string }>(
    `SELECT tenant_id, kind, value, job_id FROM pawl.identities
     WHERE (tenant_id, kind, value) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))`,
    [
      identities.map(({ tenantId }) => tenantId),
      identities.map(({ kind }) => kind),
      identities.map(({ value }) => value),
    ],
  );
  return identities.map(
    ({ tenantId, kind, value }) =>
      rows.find((row) => row.tenant_id === tenantId && row.kind === kind && row.value === value)?.job_id ??
      null,
  );
}
