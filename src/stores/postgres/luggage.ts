import type { CommitItem } from '../../ports/store.js';
import type { Column } from './batch.js';

/** What a commit may bring along: mail, messages that it has used up, a new dead letter. */
export type Luggage = 'outbox' | 'consumed' | 'deadLetter';

/**
 * It travels with the commit, a list of it as one text, so that no list has to meet another. A dead letter is not taken apart by
 * the server, which would not read every text that JSON can hold.
 */
const COLUMNS: Readonly<Record<Luggage, readonly Column<CommitItem>[]>> = {
  outbox: [['outbox', 'text', ({ outbox }) => (outbox.length === 0 ? null : JSON.stringify(outbox))]],
  consumed: [
    ['consumed', 'text', ({ consumed }) => (consumed.length === 0 ? null : JSON.stringify(consumed))],
  ],
  deadLetter: [
    ['dlq_id', 'text', ({ dlqItem }) => dlqItem && dlqItem.dlqId],
    ['dlq_tenant', 'text', ({ dlqItem }) => dlqItem && dlqItem.tenantId],
    ['dlq_status', 'text', ({ dlqItem }) => dlqItem && dlqItem.status],
    ['dlq_version', 'int', ({ dlqItem }) => dlqItem && dlqItem.version],
    ['dlq_at', 'bigint', ({ dlqItem }) => dlqItem && dlqItem.createdAt],
    ['dlq_item', 'text', ({ dlqItem }) => dlqItem && JSON.stringify(dlqItem)],
  ],
};

/** Writes that of the commits that went through; they are the rows of `from`. */
const UNPACKED: Readonly<Record<Luggage, (from: string) => string>> = {
  outbox: (from) => `posted AS (INSERT INTO pawl.outbox (entry_id, job_id, kind, due_at, body)
       SELECT o."entryId", c.job_id, o.kind, o."dueAt", o.body FROM ${from} c,
       LATERAL json_to_recordset(c.outbox::json) AS o ("entryId" text, kind text, "dueAt" bigint, body text)
       WHERE c.outbox IS NOT NULL),`,
  consumed: (from) => `consumed AS (UPDATE pawl.inbox i SET consumed = true FROM ${from} c,
       LATERAL json_array_elements_text(c.consumed::json) AS k (key)
       WHERE c.consumed IS NOT NULL AND i.job_id = c.job_id AND i.key = k.key),`,
  deadLetter: (from) => `buried AS (
       INSERT INTO pawl.dlq_items (dlq_id, job_id, tenant_id, status, version, created_at, item)
       SELECT dlq_id, job_id, dlq_tenant, dlq_status, dlq_version, dlq_at, dlq_item FROM ${from}
       WHERE dlq_id IS NOT NULL),`,
};

/** The kinds of it that these commits bring: most bring none, and their statement has no column for it. */
export function luggageOf(items: readonly CommitItem[]): readonly Luggage[] {
  const kinds: Luggage[] = [];
  if (items.some(({ outbox }) => outbox.length > 0)) kinds.push('outbox');
  if (items.some(({ consumed }) => consumed.length > 0)) kinds.push('consumed');
  if (items.some(({ dlqItem }) => dlqItem !== null)) kinds.push('deadLetter');
  return kinds;
}

export const luggageColumns = (kinds: readonly Luggage[]): readonly Column<CommitItem>[] =>
  kinds.flatMap((kind) => COLUMNS[kind]);

/** For RETURNING, of rows named `c`. */
export const luggageNames = (kinds: readonly Luggage[]): readonly string[] =>
  luggageColumns(kinds).map(([name]) => `c.${name}`);

export const unpacked = (kinds: readonly Luggage[], from: string): string =>
  kinds.map((kind) => UNPACKED[kind](from)).join('\n     ');
