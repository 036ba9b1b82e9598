import type { CommitItem } from '../../ports/store.js';
import { Batched, batchedInsert } from './batched.js';
import type { SqlValue } from './driver.js';
import type { Session } from './session.js';
import type { Pending, Writes } from './writes.js';

const COLUMNS = ['job', 'rev', 'command_id', 'body', 'link'] as const;
const OWNER = [...COLUMNS, 'owns'] as const;
const INSERT = batchedInsert('log', COLUMNS);
const INSERT_OWNER = batchedInsert('log', OWNER);
const INSERT_COUNTED = batchedInsert('log', COLUMNS, 'job');
const INSERT_OWNER_COUNTED = batchedInsert('log', OWNER, 'job');

/** The fence: (job, rev) is the log's key. */
export function appendLog(writes: Writes, id: number, item: CommitItem): void {
  pushCommit(writes.log.next(item.identities.length === 0 ? INSERT : INSERT_OWNER), id, item);
}

/** The same for a job whose row is the so-many-th after the last. */
export function appendCounted(log: Pending, count: number, item: CommitItem): void {
  pushCommit(log.next(item.identities.length === 0 ? INSERT_COUNTED : INSERT_OWNER_COUNTED), count, item);
}

function pushCommit(values: SqlValue[], id: number, item: CommitItem): void {
  const { rev, commandId, body, link, identities } = item;
  values.push(id, rev, commandId, body, link);
  if (identities.length > 0) values.push(JSON.stringify(identities));
}

const RECORD = [...COLUMNS, 'holder'] as const;
const INSERT_RECORD = new Batched(RECORD.length, {
  one: `INSERT INTO log (${COLUMNS.join()}) SELECT ?1, ?2, ?3, ?4, ?5 FROM jobs
   WHERE id = ?1 AND attempt_id = ?6 AND incarnation IS NOT NULL
   AND EXISTS (SELECT 1 FROM log AS before WHERE before.job = ?1 AND before.rev = ?2 - 1) ON CONFLICT DO NOTHING`,
  many: ({ table, value }) => {
    const [job, rev, holder] = (['job', 'rev', 'holder'] as const).map((name) => value(RECORD.indexOf(name)));
    return `WITH ${table}
   INSERT INTO log (${COLUMNS.join()}) SELECT ${COLUMNS.map((_, i) => value(i)).join()}
   FROM given CROSS JOIN jobs ON jobs.id = ${job}
   WHERE jobs.attempt_id = ${holder} AND jobs.incarnation IS NOT NULL
   AND EXISTS (SELECT 1 FROM log AS before WHERE before.job = ${job} AND before.rev = ${rev} - 1)
   ON CONFLICT DO NOTHING`;
  },
});

/** Step records leave the row of their job alone: that its attempt still holds it is their fence. */
export function appendRecord(writes: Writes, id: number, item: CommitItem & { attemptId: string }): void {
  const { rev, commandId, body, link, attemptId } = item;
  writes.records.next(INSERT_RECORD).push(id, rev, commandId, body, link, attemptId);
}

/** The same as a transaction by itself: without a holder there is no job to write down, which a constraint forbids. */
const RECORD_ALONE = `INSERT INTO log (${COLUMNS.join()}) VALUES ((SELECT id FROM jobs
   WHERE id = ?1 AND attempt_id = ?6 AND incarnation IS NOT NULL
   AND EXISTS (SELECT 1 FROM log AS before WHERE before.job = ?1 AND before.rev = ?2 - 1)), ?2, ?3, ?4, ?5)`;

/** False: it was not written, for whatever reason. */
export function recordAlone(db: Session, id: number, item: CommitItem & { attemptId: string }): boolean {
  const { rev, commandId, body, link, attemptId } = item;
  return db.writeAlone(RECORD_ALONE, id, rev, commandId, body, link, attemptId);
}
