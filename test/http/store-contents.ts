import type { RecordKind, Store } from '../../src/ports/store.js';

/** All that has ever been recorded; answers that are remembered for an Idempotency-Key are told apart. */
const KINDS: readonly RecordKind[] = ['audit', 'key', 'subscription'];
const EVERYTHING = 100_000;

/** Everything in a store that a request could have put there. */
export async function contentsOf(store: Store): Promise<unknown> {
  const { rows } = await store.feed({ after: null, limit: EVERYTHING });
  const jobIds = [...new Set(rows.map(({ jobId }) => jobId))];
  const records = await Promise.all(
    KINDS.map((kind) => store.records({ kind, tenantId: null, after: null, limit: EVERYTHING })),
  );
  return {
    log: rows,
    inboxes: await Promise.all(jobIds.map(async (id) => (await store.inbox(id)).messages)),
    holds: await Promise.all(jobIds.map(async (id) => (await store.heldFor(id)).hold)),
    records: records.map((page) => page.records),
    dlq: (await store.dlq({ tenantId: null, status: null, after: null, limit: EVERYTHING })).items,
    schedules: (await store.schedules({ tenantId: null, after: null, limit: EVERYTHING })).schedules,
    paused: (await store.pausedQueues()).queues,
    counts: (await store.counts({ tenantId: null })).counts,
  };
}

/** What is remembered for Idempotency-Keys. */
export async function repliesIn(store: Store): Promise<number> {
  const { records } = await store.records({ kind: 'reply', tenantId: null, after: null, limit: EVERYTHING });
  return records.length;
}
