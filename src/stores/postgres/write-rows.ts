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
import { binaryArray, type ElementType } from './binary-array.js';

/** Rows as a statement takes them, and how it calls them: a list of values for each column, or one value for all rows. */
export type Batch = { readonly from: string; readonly values: readonly (Value | Buffer)[] };

type Value = string | number | null;
type Column<T> = readonly [name: string, type: ElementType, value: (item: T) => Value];

const LOG: readonly Column<CommitItem>[] = [
  ['job_id', 'text', ({ jobId }) => jobId],
  ['rev', 'int', ({ rev }) => rev],
  ['command_id', 'text', ({ commandId }) => commandId],
  ['body', 'text', ({ body }) => body],
  ['link', 'text', ({ link }) => link],
  ['owns', 'text', ({ identities }) => (identities.length === 0 ? null : JSON.stringify(identities))],
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

const NEW: readonly Column<Created>[] = [...FIXED, ...CHANGING];
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

/**
 * From this many rows on, a column that has the same value in all of them is sent as that value: of the nineteen of a
 * thousand claims five remain lists to pack here and to unpack on the server (bench/store/postgres.ts). Columns of few
 * rows are the same by chance, in ever new ways, and each way is a statement to prepare. A row by itself has no lists at
 * all, which takes a third off the time of its statement.
 */
const MANY = 32;

/** Rows named `alias`, with parameters from `first` on. */
function batch<T>(columns: readonly Column<T>[], items: readonly T[], { alias, first }: Place): Batch {
  const values: (Value | Buffer)[] = [];
  const names: string[] = [];
  const lists: string[] = [];
  const selected = columns.map(([name, type, value]) => {
    const list = items.map(value);
    const place = `$${first + values.length}`;
    if (list.length === 1 || (list.length >= MANY && list.every((one) => one === list[0]))) {
      values.push(list[0] as Value);
      return `${place}::${type} AS ${name}`;
    }
    values.push(binaryArray(type, list));
    names.push(name);
    lists.push(`${place}::${type}[]`);
    return `u.${name}`;
  });
  const from = lists.length === 0 ? '' : `FROM unnest(${lists.join(', ')}) AS u (${names.join(', ')})`;
  return { from: `(SELECT ${selected.join(', ')} ${from}) AS ${alias}`, values };
}

type Place = { readonly alias: string; readonly first: number };

export const logBatch = (items: readonly CommitItem[], place: Place): Batch => batch(LOG, items, place);

export function newJobs(items: readonly CommitItem[], place: Place): Batch {
  const created = items.flatMap((item) => (item.job ? [{ row: rowOf(item.job), job: item.job, item }] : []));
  return batch(NEW, created, place);
}

export function changes(items: readonly CommitItem[], place: Place): Batch {
  const changed = items.flatMap((item) =>
    item.job ? [{ row: changingOf(item.job), job: item.job, item }] : [],
  );
  return batch(CHANGE, changed, place);
}

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
