import type { DlqItem } from '../../kernel/index.js';
import type { Reply, Store } from '../../ports/store.js';
import type { Session } from './session.js';

/** False: it is there already. */
export function insertDlqItem(db: Session, item: DlqItem): boolean {
  const { changes } = db.run(
    `INSERT INTO dlq_items (dlq_id, job_id, tenant_id, status, version, created_at, item) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
    item.dlqId,
    item.jobId,
    item.tenantId,
    item.status,
    item.version,
    item.createdAt,
    JSON.stringify(item),
  );
  return changes > 0;
}

export function putDlqItem(db: Session, item: DlqItem): Reply<{ saved: boolean }> {
  const { changes } = db.run(
    'UPDATE dlq_items SET status = ?, version = ?, item = ? WHERE dlq_id = ? AND version = ?',
    item.status,
    item.version,
    JSON.stringify(item),
    item.dlqId,
    item.version - 1,
  );
  return { now: db.now(), saved: changes > 0 };
}

export function dlqItem(db: Session, dlqId: string): Reply<{ item: DlqItem | null }> {
  const row = db.get<{ item: string }>('SELECT item FROM dlq_items WHERE dlq_id = ?', dlqId);
  return { now: db.now(), item: row ? (JSON.parse(row.item) as DlqItem) : null };
}

export function dlq(
  db: Session,
  { tenantId, status, after, limit }: Parameters<Store['dlq']>[0],
): Reply<{ items: DlqItem[] }> {
  const rows = db.all<{ item: string }>(
    `SELECT item FROM dlq_items WHERE tenant_id = ifnull(?, tenant_id) AND status = ifnull(?, status)
     AND (created_at, dlq_id) > (?, ?) ORDER BY created_at, dlq_id LIMIT +?`,
    tenantId,
    status,
    after?.createdAt ?? -1,
    after?.dlqId ?? '',
    limit,
  );
  return { now: db.now(), items: rows.map(({ item }) => JSON.parse(item) as DlqItem) };
}
