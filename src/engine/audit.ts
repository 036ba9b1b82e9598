import type { Timestamp } from '../kernel/index.js';
import type { Engine } from './engine.js';

/** Who did what to what, when and why. */
export type AuditEntry = {
  readonly tenantId: string;
  readonly action: string;
  readonly subject: string;
  readonly by: string;
  readonly at: Timestamp;
  readonly reason: string | null;
};

/** Time-ordered ids, so that a listing is in order. */
export async function recordAudit(engine: Engine, { tenantId, ...entry }: AuditEntry): Promise<void> {
  const record = { kind: 'audit', tenantId, id: engine.newId(0), version: 1 } as const;
  await engine.store.putRecord({ ...record, body: JSON.stringify(entry) }, 0);
}

/** Oldest first; `after` is the last id of the page before. */
export async function listAudit(
  engine: Engine,
  { tenantId, after = null, limit }: { tenantId: string; after?: string | null; limit: number },
): Promise<(AuditEntry & { readonly id: string })[]> {
  const { records } = await engine.store.records({
    kind: 'audit',
    tenantId,
    after: after === null ? null : { tenantId, id: after },
    limit,
  });
  return records.map(({ id, body }) => ({
    id,
    tenantId,
    ...(JSON.parse(body) as Omit<AuditEntry, 'tenantId'>),
  }));
}
