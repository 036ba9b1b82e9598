import type { Job } from '../../kernel/index.js';
import type { CommitItem } from '../../ports/store.js';
import { appendCounted } from './append-log.js';
import { batchedInsert, type Batch } from './batched.js';
import { ownerOf } from './commit.js';
import type { Session } from './session.js';
import { insertCounted } from './write-row.js';
import type { Order } from './writer.js';
import { Pending } from './writes.js';

const INSERT_IDENTITIES = batchedInsert('identities', ['tenant_id', 'kind', 'value', 'job_id']);

/** A commit that creates a job, and does nothing besides. */
export type NewJob = CommitItem & { readonly job: Job };

export function isNewJob(item: CommitItem): item is NewJob {
  const { rev, job, dlqItem, outbox, consumed, identities } = item;
  if (rev !== 1 || job === null || dlqItem !== null || outbox.length + consumed.length > 0) return false;
  return identities.every(({ needs, replaces }) => needs === undefined && replaces === undefined);
}

/** What writes new jobs in one transaction, which whatever is there by then undoes. Null: somebody has one of their identities already. */
export function newJobs(db: Session, items: readonly NewJob[]): Order['statements'] | null {
  const statements: (Batch & { isCounted: boolean })[] = [];
  const noted =
    (isCounted: boolean) =>
    ({ sql, rows, values }: Batch): void =>
      void statements.push({ sql, rows, values: [...values], isCounted });
  const [rows, log, identities] = [
    new Pending(noted(true)),
    new Pending(noted(true)),
    new Pending(noted(false)),
  ];
  for (const [index, item] of items.entries()) {
    const count = index + 1;
    insertCounted(db, rows, { count, job: item.job });
    appendCounted(log, count, item);
    for (const identity of item.identities) {
      if (ownerOf(db, identity) !== null) return null;
      const { tenantId, kind, value } = identity;
      identities.next(INSERT_IDENTITIES).push(tenantId, kind, value, item.jobId);
    }
  }
  for (const pending of [rows, log, identities]) pending.flush();
  return statements;
}

/** What SQLite never says of a file: so nobody takes the row for as this process knows it, without looking. */
const NO_VERSION = -1;

/** Once they are written, behind that row. */
export function rememberNewJobs(db: Session, items: readonly NewJob[], last: number): void {
  if (!db.recent.isUseful) return;
  for (const [index, { jobId, job, link, rev }] of items.entries()) {
    db.recent.set(jobId, { id: last + index + 1, job, link, head: rev, version: NO_VERSION });
  }
}
