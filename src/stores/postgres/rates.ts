import type { Queries } from './session.js';

/** What was used of these rates. Whoever claims under one of them waits here for the others to be done. */
export async function lockRates(db: Queries, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  await db.rows(
    `INSERT INTO pawl.records (kind, tenant_id, id, version, body) SELECT 'rate', '', name, 1, '[]'
     FROM unnest($1::text[]) AS r (name) ORDER BY name ON CONFLICT DO NOTHING`,
    [names],
  );
  const rows = await db.rows<{ id: string; body: string }>(
    `SELECT id, body FROM pawl.records WHERE kind = 'rate' AND tenant_id = '' AND id = ANY ($1::text[])
     ORDER BY id FOR UPDATE`,
    [names],
  );
  return new Map(rows.map(({ id, body }) => [id, body]));
}

export async function saveRates(
  db: Queries,
  used: readonly { readonly name: string; readonly body: string }[],
): Promise<void> {
  for (const { name, body } of used) {
    await db.rows(
      "UPDATE pawl.records SET version = version + 1, body = $2 WHERE kind = 'rate' AND tenant_id = '' AND id = $1",
      [name, body],
    );
  }
}
