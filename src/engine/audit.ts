import { newJobId, type Timestamp } from '../kernel/index.js';
import type { Engine } from './engine.js';
import { sha256 } from './sha256.js';

/** Who did what to what, when and why. */
export type AuditEntry = {
  readonly tenantId: string;
  readonly action: string;
  readonly subject: string;
  readonly by: string;
  readonly at: Timestamp;
  readonly reason: string | null;
};

/** Time-ordered ids, so that a listing is in order. `of`: what the entry is of; recorded once more, it is the same entry. */
export async function recordAudit(
  engine: Engine,
  { tenantId, ...entry }: AuditEntry,
  { of }: { readonly of?: string } = {},
): Promise<void> {
  const id = of === undefined ? engine.newId(0) : idOf(of, entry.at);
  const record = { kind: 'audit', tenantId, id, version: 1 } as const;
  await engine.store.putRecord({ ...record, body: JSON.stringify(entry) }, 0);
}

/** The same for the same: what is random in other ids is its hash here. */
function idOf(of: string, at: Timestamp): string {
  const hash = sha256(of);
  let taken = 0;
  const draw = (below: number): number => {
    taken += 3;
    return Number.parseInt(hash.slice(taken - 3, taken), 16) % below;
  };
  return newJobId({ now: at, bucket: 0, draw });
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
