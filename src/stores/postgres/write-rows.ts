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
import { batch, type Batch, type Column, type Place } from './batch.js';
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

export const logBatch = (items: readonly CommitItem[], place: Place): Batch => batch(LOG, items, place);

/** Step records with what they bring along. */
export const recordBatch = (items: readonly CommitItem[], place: Place, luggage: readonly Luggage[]): Batch =>
  batch([...LOG, ...luggageColumns(luggage)], items, place);

export function newJobs(items: readonly CommitItem[], place: Place): Batch {
  const created = items.flatMap((item) => (item.job ? [{ row: rowOf(item.job), job: item.job, item }] : []));
  return batch(NEW, created, place);
}

export function changes(items: readonly CommitItem[], place: Place, luggage: readonly Luggage[] = []): Batch {
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
