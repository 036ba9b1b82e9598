import { bucketOf, rowOf, type Job, type JobRow } from '../../kernel/index.js';
import type { CommitItem, NewOutboxEntry } from '../../ports/store.js';
import { encodeState } from '../job-state.js';
import { binaryArray, type ElementType } from './binary-array.js';

/** A list of values for each column, as `unnest` takes them, and how the statement calls it. */
export type Batch = { readonly from: string; readonly values: readonly Buffer[] };

type Column<T> = readonly [name: string, type: ElementType, value: (item: T) => string | number | null];

const LOG: readonly Column<CommitItem>[] = [
  ['job_id', 'text', ({ jobId }) => jobId],
  ['rev', 'int', ({ rev }) => rev],
  ['command_id', 'text', ({ commandId }) => commandId],
  ['body', 'text', ({ body }) => body],
  ['link', 'text', ({ link }) => link],
  ['owns', 'text', ({ identities }) => (identities.length === 0 ? null : JSON.stringify(identities))],
];

type Written = { readonly row: JobRow; readonly job: Job; readonly item: CommitItem };

const CHANGING: readonly Column<Written>[] = [
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

const FIXED: readonly Column<Written>[] = [
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

const NEW = [...FIXED, ...CHANGING];
/** A change with its log row, and what must still be true of the job. */
const CHANGE: readonly Column<Written>[] = [
  ['job_id', 'text', ({ row }) => row.jobId],
  ...CHANGING,
  ['log_rev', 'int', ({ item }) => item.rev],
  ['command_id', 'text', ({ item }) => item.commandId],
  ['body', 'text', ({ item }) => item.body],
  ['link', 'text', ({ item }) => item.link],
  ['holder', 'text', ({ item }) => item.attemptId],
  ['inbox_rev', 'int', ({ item }) => item.inboxRev],
  ['outbox', 'text', ({ item }) => jsonOrNull(item.outbox)],
  ['consumed', 'text', ({ item }) => jsonOrNull(item.consumed)],
];

function jsonOrNull(list: readonly unknown[]): string | null {
  return list.length === 0 ? null : JSON.stringify(list);
}

type Posted = NewOutboxEntry & { readonly jobId: string | null };
const OUTBOX: readonly Column<Posted>[] = [
  ['entry_id', 'text', ({ entryId }) => entryId],
  ['job_id', 'text', ({ jobId }) => jobId],
  ['kind', 'text', ({ kind }) => kind],
  ['due_at', 'bigint', ({ dueAt }) => dueAt],
  ['body', 'text', ({ body }) => body],
];

/** `unnest` of one list for each column, named `alias`, with parameters from `first` on. */
function batch<T>(columns: readonly Column<T>[], items: readonly T[], { alias, first }: Place): Batch {
  const lists = columns.map(([, type], i) => `$${first + i}::${type}[]`);
  return {
    from: `unnest(${lists.join(', ')}) AS ${alias} (${columns.map(([name]) => name).join(', ')})`,
    values: columns.map(([, type, value]) => binaryArray(type, items.map(value))),
  };
}

type Place = { readonly alias: string; readonly first: number };

const written = (items: readonly CommitItem[]): Written[] =>
  items.flatMap((item) => (item.job ? [{ row: rowOf(item.job), job: item.job, item }] : []));

export const logBatch = (items: readonly CommitItem[], place: Place): Batch => batch(LOG, items, place);
export const newJobs = (items: readonly CommitItem[], place: Place): Batch =>
  batch(NEW, written(items), place);
export const changes = (items: readonly CommitItem[], place: Place): Batch =>
  batch(CHANGE, written(items), place);

type Posting = { readonly jobId: string | null; readonly outbox: readonly NewOutboxEntry[] };
export const outboxBatch = (items: readonly Posting[], place: Place): Batch =>
  batch(
    OUTBOX,
    items.flatMap(({ jobId, outbox }) => outbox.map((entry) => ({ ...entry, jobId }))),
    place,
  );

export const OUTBOX_COLUMNS = OUTBOX.map(([name]) => name).join(', ');
export const LOG_COLUMNS = LOG.map(([name]) => name).join(', ');
export const NEW_COLUMNS = NEW.map(([name]) => name).join(', ');
/** For `UPDATE pawl.jobs j … FROM` changes named `c`; `now` is the time, as SQL. A job that is held never gets ready. */
export const setChanged = (now: string): string =>
  `${CHANGING.map(([name]) => `${name} = c.${name}`).join(', ')},
   ready = c.due_at IS NOT NULL AND c.due_at <= ${now} AND NOT j.held`;
/** What of a change named `c` goes into the log, for RETURNING; and for `INSERT INTO pawl.log`. */
export const LOGGED_CHANGE = 'c.job_id, c.log_rev, c.command_id, c.body, c.link';
export const LOG_OF_CHANGES = `(job_id, rev, command_id, body, link) SELECT ${LOGGED_CHANGE}`;
