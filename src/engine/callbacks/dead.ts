import type { OutboxEntry } from '../../ports/store.js';
import type { Engine } from '../engine.js';
import type { CallbackBody } from './subscription-cache.js';

const PAGE = 200;
type Whose = { readonly tenantId: string | null };

/** The tenant's callbacks that were given up, by their ids. `tenantId` null: everybody's. */
export async function deadCallbacks(
  engine: Engine,
  { tenantId, after = null, limit }: Whose & { readonly after?: string | null; readonly limit: number },
): Promise<OutboxEntry[]> {
  const found: OutboxEntry[] = [];
  for await (const entry of allDead(engine, { tenantId, after })) {
    found.push(entry);
    if (found.length === limit) break;
  }
  return found;
}

/** Sends callbacks again, if they are the tenant's and were given up. Answers how many. */
export async function redriveCallbacks(
  engine: Engine,
  entryIds: readonly string[],
  { tenantId }: Whose,
): Promise<number> {
  const wanted = new Set(entryIds);
  const found: string[] = [];
  for await (const { entryId } of allDead(engine, { tenantId, after: null })) {
    if (wanted.has(entryId)) found.push(entryId);
    if (found.length === wanted.size) break;
  }
  const dueAt = engine.now();
  if (found.length > 0) {
    await engine.store.settleOutbox(found.map((entryId) => ({ entryId, outcome: 'again', dueAt }) as const));
    engine.bells.callbacks.ring();
  }
  return found.length;
}

async function* allDead(
  engine: Engine,
  { tenantId, after: from }: Whose & { readonly after: string | null },
): AsyncGenerator<OutboxEntry> {
  for (let after = from; ;) {
    const { entries } = await engine.store.deadOutbox({ kind: 'callback', after, limit: PAGE });
    for (const entry of entries) {
      const { tenantId: owner } = JSON.parse(entry.body) as CallbackBody;
      if (tenantId === null || owner === tenantId) yield entry;
    }
    const last = entries.at(-1);
    if (last === undefined || entries.length < PAGE) return;
    after = last.entryId;
  }
}
