import type { NewOutboxEntry, RecordRef, Reply, Store, StoredRecord } from '../../ports/store.js';
import { putOutbox } from './outbox.js';
import type { Queries } from './session.js';

const RECORD = 'kind, tenant_id AS "tenantId", id, version, body';
const BY_REF = 'WHERE kind = $1 AND tenant_id = $2 AND id = $3';

export async function putRecord(
  db: Queries,
  { kind, tenantId, id, version, body }: StoredRecord,
  expected: number,
  mail: readonly NewOutboxEntry[] = [],
): Promise<Reply<{ saved: boolean }>> {
  const saved =
    expected === 0
      ? await db.rows(
          `INSERT INTO pawl.records (kind, tenant_id, id, version, body) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT DO NOTHING RETURNING 1`,
          [kind, tenantId, id, version, body],
        )
      : await db.rows(
          `UPDATE pawl.records SET version = $4, body = $5 ${BY_REF} AND version = $6 RETURNING 1`,
          [kind, tenantId, id, version, body, expected],
        );
  if (saved.length > 0 && mail.length > 0) await putOutbox(db, mail);
  return { now: await db.now(), saved: saved.length > 0 };
}

export async function record(
  db: Queries,
  { kind, tenantId, id }: RecordRef,
): Promise<Reply<{ record: StoredRecord | null }>> {
  const [found = null] = await db.rows<StoredRecord>(`SELECT ${RECORD} FROM pawl.records ${BY_REF}`, [
    kind,
    tenantId,
    id,
  ]);
  return { now: await db.now(), record: found };
}

export async function records(
  db: Queries,
  { kind, tenantId, after, limit }: Parameters<Store['records']>[0],
): Promise<Reply<{ records: StoredRecord[] }>> {
  const found = await db.rows<StoredRecord>(
    `SELECT ${RECORD} FROM pawl.records
     WHERE kind = $1 AND ($2::text IS NULL OR tenant_id = $2) AND (tenant_id, id) > ($3, $4)
     ORDER BY tenant_id, id LIMIT $5`,
    [kind, tenantId, after?.tenantId ?? '', after?.id ?? '', limit],
  );
  return { now: await db.now(), records: found };
}

export async function deleteRecord(
  db: Queries,
  { kind, tenantId, id }: RecordRef,
): Promise<Reply<{ deleted: boolean }>> {
  const deleted = await db.rows(`DELETE FROM pawl.records ${BY_REF} RETURNING 1`, [kind, tenantId, id]);
  return { now: await db.now(), deleted: deleted.length > 0 };
}
