import {
  bucketOf,
  changingOf,
  rowOf,
  type ChangingColumns,
  type Job,
  type JobRow,
} from '../../kernel/index.js';
import type { CommitItem, NewOutboxEntry } from '../../ports/store.js';
import { encodeState } from '../job-state.js';
import { batch, type Batch, type Column, type Place, type Rows } from './batch.js';
import { luggageColumns, type Luggage } from './luggage.js';

const LOG: readonly Column<CommitItem>[] = [
  ['job_id', 'text', ({ jobId }) => jobId],
  ['rev', 'int', ({ rev }) => rev],
  ['command_id', 'text', ({ commandId }) => commandId],
  ['body', 'text', ({ body }) => body],
  ['link', 'text', ({ link }) => link],
];

type Changed = { readonly row: ChangingColumns; readonly job: Job; readonly item: CommitItem };
type Created = Changed & { readonly row: JobRow };

const CHANGING: readonly Column<Changed>[] = [
  ['status', 'text', ({ row }) => row.status],
  ['rev', 'int', ({ row }) => row.rev],
  ['attempt_id', 'text', ({ row }) => row.attemptId],
  ['incarnation', 'text', ({ row }) => row.incarnation],
  ['due_at', 'bigint', ({ row }) => row.dueAt],
  ['wake_at', 'bigint', ({ row }) => row.wakeAt],
  ['deadline_at', 'bigint', ({ row }) => row.deadlineAt],
  ['updated_at', 'bigint', ({ row }) => row.updatedAt],
  ['finished_at', 'bigint', ({ row }) => row.finishedAt],
  ['state', 'text', ({ job }) => encodeState(job)],
];

const FIXED: readonly Column<Created>[] = [
  ['job_id', 'text', ({ row }) => row.jobId],
  ['bucket', 'int', ({ row }) => bucketOf(row.jobId)],
  ['tenant_id', 'text', ({ row }) => row.tenantId],
  ['task', 'text', ({ row }) => row.task],
  ['queue', 'text', ({ row }) => row.queue],
  ['lane', 'text', ({ row }) => row.lane],
  ['gate', 'text', ({ row }) => row.gate],
  ['priority', 'int', ({ row }) => row.priority],
  ['created_at', 'bigint', ({ row }) => row.createdAt],
];

/** The first row of its log. */
const FIRST: readonly Column<Created>[] = [
  ['first_command', 'text', ({ item }) => item.commandId],
  ['first_body', 'text', ({ item }) => item.body],
  ['first_link', 'text', ({ item }) => item.link],
  [
    'owns',
    'text',
    ({ item: { identities } }) => (identities.length === 0 ? null : JSON.stringify(identities)),
  ],
];

const NEW: readonly Column<Created>[] = [...FIXED, ...CHANGING, ...FIRST];
/** A change with its log row, and what must still be true of the job. */
const CHANGE: readonly Column<Changed>[] = [
  ['job_id', 'text', ({ item }) => item.jobId],
  ...CHANGING,
  ['log_rev', 'int', ({ item }) => item.rev],
  ['command_id', 'text', ({ item }) => item.commandId],
  ['body', 'text', ({ item }) => item.body],
  ['link', 'text', ({ item }) => item.link],
  ['holder', 'text', ({ item }) => item.attemptId],
  ['inbox_rev', 'int', ({ item }) => item.inboxRev],
];

type Posted = NewOutboxEntry & { readonly jobId: string | null };
const OUTBOX: readonly Column<Posted>[] = [
  ['entry_id', 'text', ({ entryId }) => entryId],
  ['job_id', 'text', ({ jobId }) => jobId],
  ['kind', 'text', ({ kind }) => kind],
  ['due_at', 'bigint', ({ dueAt }) => dueAt],
  ['body', 'text', ({ body }) => body],
];

/** Log rows of a transaction that may have begun long before it came to these jobs; with their positions, for `LOG_COLUMNS`. */
export function logBatch(items: readonly CommitItem[], { alias, first }: Place): Rows {
  const { from, values } = batch(LOG, items, { alias: 'n', first });
  const createdXid = '(SELECT j.created_xid FROM pawl.jobs j WHERE j.job_id = n.job_id)';
  const xid = positionBehind({ jobId: 'n.job_id', rev: 'n.rev', createdXid });
  return { from: `(SELECT n.*, ${xid} AS xid FROM ${from}) AS ${alias}`, values };
}

/** Step records with what they bring along. */
export const recordBatch = (items: readonly CommitItem[], place: Place, luggage: readonly Luggage[]): Rows =>
  batch([...LOG, ...luggageColumns(luggage)], items, place);

export function newJobs(items: readonly CommitItem[], place: Place): Batch {
  const created = items.flatMap((item) => (item.job ? [{ row: rowOf(item.job), job: item.job, item }] : []));
  return batch(NEW, created, place);
}

export function changes(items: readonly CommitItem[], place: Place, luggage: readonly Luggage[] = []): Rows {
  const changed = items.flatMap((item) =>
    item.job ? [{ row: changingOf(item.job), job: item.job, item }] : [],
  );
  const brought = luggageColumns(luggage).map(([name, type, value]): Column<Changed> => [
    name,
    type,
    ({ item }) => value(item),
  ]);
  return batch([...CHANGE, ...brought], changed, place);
}

type Posting = { readonly jobId: string | null; readonly outbox: readonly NewOutboxEntry[] };
export const outboxBatch = (items: readonly Posting[], place: Place): Rows =>
  batch(
    OUTBOX,
    items.flatMap(({ jobId, outbox }) => outbox.map((entry) => ({ ...entry, jobId }))),
    place,
  );

export const OUTBOX_COLUMNS = OUTBOX.map(([name]) => name).join(', ');
/** Of a record, whose position is its transaction. */
export const RECORD_COLUMNS = LOG.map(([name]) => name).join(', ');
/** The same of records named `c`. */
export const RECORD_VALUES = LOG.map(([name]) => `c.${name}`).join(', ');
export const LOG_COLUMNS = `${RECORD_COLUMNS}, xid`;
export const NEW_COLUMNS = NEW.map(([name]) => name).join(', ');
/** For `UPDATE pawl.jobs j … FROM` changes named `c`; `now` is the time, as SQL. A job that is held never gets ready. */
export const setChanged = (now: string): string =>
  `${CHANGING.map(([name]) => `${name} = c.${name}`).join(', ')},
   ready = c.due_at IS NOT NULL AND c.due_at <= ${now} AND NOT j.held`;
/** What of a change named `c` goes into the log, for RETURNING; and for `INSERT INTO pawl.log`. */
export const LOGGED_CHANGE = 'c.job_id, c.log_rev, c.command_id, c.body, c.link';
export const LOG_OF_CHANGES = `(${RECORD_COLUMNS}) SELECT ${LOGGED_CHANGE}`;
/** The same of claims; their RETURNING has `j.created_xid` as well. */
export const LOG_OF_CLAIMS = `(${LOG_COLUMNS}) SELECT ${LOGGED_CHANGE},
  ${positionBehind({ jobId: 'c.job_id', rev: 'c.log_rev', createdXid: 'c.created_xid' })}`;

/**
 * Where a log row stands in the feed, as SQL: by its transaction, but never before the revision that it follows. A transaction that
 * had its number before it came to the job may follow one with a higher number. All others begin after they were told
 * what they follow, and need not ask (decision 49). A number that nobody can have had yet is of another cluster, and says nothing.
 * OFFSET 0 keeps the server from looking the revision up twice.
 */
function positionBehind({ jobId, rev, createdXid }: Record<'jobId' | 'rev' | 'createdXid', string>): string {
  return `greatest(pg_current_xact_id(), (SELECT before.xid FROM (SELECT CASE WHEN ${rev} = 2 THEN ${createdXid}
    ELSE (SELECT p.xid FROM pawl.log p WHERE p.job_id = ${jobId} AND p.rev = ${rev} - 1) END OFFSET 0) AS before (xid)
    WHERE before.xid < (SELECT pg_snapshot_xmax(pg_current_snapshot()))))`;
}
