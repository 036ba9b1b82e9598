import type { DlqItem } from '../../kernel/index.js';
import type { Reply, Store } from '../../ports/store.js';
import type { Queries } from './session.js';

export async function insertDlqItem(db: Queries, item: DlqItem): Promise<void> {
  const { dlqId, jobId, tenantId, status, version, createdAt } = item;
  await db.rows(
    `INSERT INTO pawl.dlq_items (dlq_id, job_id, tenant_id, status, version, created_at, item)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [dlqId, jobId, tenantId, status, version, createdAt, JSON.stringify(item)],
  );
}

/** False: somebody else has changed it since. */
export async function replaceDlqItem(db: Queries, item: DlqItem): Promise<boolean> {
  const { dlqId, status, version } = item;
  const replaced = await db.rows(
    `UPDATE pawl.dlq_items SET status = $2, version = $3, item = $4 WHERE dlq_id = $1 AND version = $3 - 1 RETURNING 1`,
    [dlqId, status, version, JSON.stringify(item)],
  );
  return replaced.length > 0;
}

export async function putDlqItem(db: Queries, item: DlqItem): Promise<Reply<{ saved: boolean }>> {
  return { saved: await replaceDlqItem(db, item), now: await db.now() };
}

export async function dlqItem(db: Queries, dlqId: string): Promise<Reply<{ item: DlqItem | null }>> {
  const [row] = await db.rows<{ item: string }>('SELECT item FROM pawl.dlq_items WHERE dlq_id = $1', [dlqId]);
  return { now: await db.now(), item: row ? (JSON.parse(row.item) as DlqItem) : null };
}

export async function dlq(
  db: Queries,
  { tenantId, status, after, limit }: Parameters<Store['dlq']>[0],
): Promise<Reply<{ items: DlqItem[] }>> {
  const rows = await db.rows<{ item: string }>(
    `SELECT item FROM pawl.dlq_items WHERE ($1::text IS NULL OR tenant_id = $1) AND ($2::text IS NULL OR status = $2)
     AND (created_at, dlq_id) > ($3::bigint, $4) ORDER BY created_at, dlq_id LIMIT $5`,
    [tenantId, status, after?.createdAt ?? -1, after?.dlqId ?? '', limit],
  );
  return { now: await db.now(), items: rows.map(({ item }) => JSON.parse(item) as DlqItem) };
}
