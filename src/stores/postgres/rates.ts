import type { RateRef } from '../rates.js';
import type { Queries } from './session.js';

/**
 * What was used of these rates. Whoever claims under one that all tenants share waits here for the others to be done; one
 * of a single tenant that another claim is at is left to it (`skip`), and so missing from the answer.
 */
export async function lockRates(
  db: Queries,
  refs: readonly RateRef[],
  { skip }: { skip: boolean },
): Promise<ReadonlyMap<string, string>> {
  if (refs.length === 0) return new Map();
  const lists = [refs.map(({ tenantId }) => tenantId), refs.map(({ name }) => name)];
  await db.rows(
    `INSERT INTO pawl.records (kind, tenant_id, id, version, body) SELECT 'rate', tenant_id, name, 1, '[]'
     FROM unnest($1::text[], $2::text[]) AS r (tenant_id, name) ORDER BY tenant_id, name ON CONFLICT DO NOTHING`,
    lists,
  );
  const rows = await db.rows<{ tenant_id: string; id: string; body: string }>(
    `SELECT tenant_id, id, body FROM pawl.records WHERE kind = 'rate'
     AND (tenant_id, id) IN (SELECT * FROM unnest($1::text[], $2::text[]))
     ORDER BY tenant_id, id FOR UPDATE ${skip ? 'SKIP LOCKED' : ''}`,
    lists,
  );
  return new Map(rows.map(({ tenant_id, id, body }) => [rateKey({ tenantId: tenant_id, name: id }), body]));
}

export const rateKey = ({ tenantId, name }: RateRef): string => `${tenantId}\u0000${name}`;

export async function saveRates(
  db: Queries,
  used: readonly (RateRef & { readonly body: string })[],
): Promise<void> {
  if (used.length === 0) return;
  await db.rows(
    `UPDATE pawl.records r SET version = r.version + 1, body = u.body
     FROM unnest($1::text[], $2::text[], $3::text[]) AS u (tenant_id, id, body)
     WHERE r.kind = 'rate' AND r.tenant_id = u.tenant_id AND r.id = u.id`,
    [used.map(({ tenantId }) => tenantId), used.map(({ name }) => name), used.map(({ body }) => body)],
  );
}
