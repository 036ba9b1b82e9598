import type { NewOutboxEntry, RecordRef, Reply, Store, StoredRecord } from '../../ports/store.js';
import { putOutbox } from './outbox.js';
import type { Session } from './session.js';

const RECORD = 'kind, tenant_id AS tenantId, id, version, body';
const BY_REF = 'WHERE kind = ? AND tenant_id = ? AND id = ?';

export function putRecord(
  db: Session,
  { kind, tenantId, id, version, body }: StoredRecord,
  expected: number,
  mail: readonly NewOutboxEntry[] = [],
): Reply<{ saved: boolean }> {
  const { changes } =
    expected === 0
      ? db.run(
          'INSERT INTO records (kind, tenant_id, id, version, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
          kind,
          tenantId,
          id,
          version,
          body,
        )
      : db.run(
          `UPDATE records SET version = ?, body = ? ${BY_REF} AND version = ?`,
          version,
          body,
          kind,
          tenantId,
          id,
          expected,
        );
  const saved = changes > 0;
  if (saved) putOutbox(db, mail);
  return { now: db.now(), saved };
}

export function record(
  db: Session,
  { kind, tenantId, id }: RecordRef,
): Reply<{ record: StoredRecord | null }> {
  const found = db.get<StoredRecord>(`SELECT ${RECORD} FROM records ${BY_REF}`, kind, tenantId, id);
  return { now: db.now(), record: found ? { ...found } : null };
}

export function records(
  db: Session,
  { kind, tenantId, after, limit }: Parameters<Store['records']>[0],
): Reply<{ records: StoredRecord[] }> {
  const rows = db.all<StoredRecord>(
    `SELECT ${RECORD} FROM records WHERE kind = ? AND tenant_id = ifnull(?, tenant_id) AND (tenant_id, id) > (?, ?)
     ORDER BY tenant_id, id LIMIT +?`,
    kind,
    tenantId,
    after?.tenantId ?? '',
    after?.id ?? '',
    limit,
  );
  return { now: db.now(), records: rows.map((row) => ({ ...row })) };
}

export function deleteRecord(db: Session, { kind, tenantId, id }: RecordRef): Reply<{ deleted: boolean }> {
  return { now: db.now(), deleted: db.run(`DELETE FROM records ${BY_REF}`, kind, tenantId, id).changes > 0 };
}
