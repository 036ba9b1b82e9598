import { bucketOf, changingOf, rowOf, STATUSES, type ChangingColumns, type Job } from '../../kernel/index.js';
import type { CommitItem } from '../../ports/store.js';
import { encodeState } from '../job-state.js';
import { Batched, batchedInsert } from './batched.js';
import type { SqlValue } from './driver.js';
import type { RecentRow, Session } from './session.js';
import { Overtaken, type Pending, type Writes } from './writes.js';

/** The columns that may change with a job, besides `status`, `state` and `ready`. */
const CHANGING = [
  'rev',
  'attempt_id',
  'incarnation',
  'due_at',
  'wake_at',
  'deadline_at',
  'updated_at',
  'finished_at',
] as const;

/** As SQL has it. A timer gets ready later, by a claim. */
function isReady(db: Session, { dueAt }: ChangingColumns): 0 | 1 {
  return dueAt !== null && dueAt <= db.now() ? 1 : 0;
}

const NEW_COLUMNS = [
  'job_id',
  'bucket',
  'tenant_id',
  'task',
  'queue',
  'lane',
  'gate',
  'priority',
  'created_at',
  'updated_at',
  'status',
  'ready',
  'state',
  'due_at',
  'wake_at',
  'deadline_at',
  'rev',
] as const;
const INSERT = batchedInsert('jobs', [...NEW_COLUMNS, 'id']);
const INSERT_COUNTED = batchedInsert('jobs', [...NEW_COLUMNS, 'id'], 'id');
const INSERT_ALONE = batchedInsert('jobs', NEW_COLUMNS).one;

/**
 * Writes the row of a new job, which has no attempt, no holder and no end. Its id, or its job's, being taken undoes the
 * transaction. Answers with where it goes: one that comes alone goes where SQLite puts it, which is the same place and need
 * not be looked up.
 */
export function insertRow(db: Session, writes: Writes, job: Job): number {
  const values = writes.isForOne ? [] : writes.newRows.next(INSERT);
  pushNew(db, values, job);
  if (writes.isForOne) {
    const { changes, id } = db.run(INSERT_ALONE, ...values);
    if (changes === 0) throw new Overtaken();
    return id;
  }
  const id = writes.newId();
  values.push(id);
  return id;
}

/** The same, without a transaction: the row is the so-many-th after the last. */
export function insertCounted(db: Session, rows: Pending, { count, job }: { count: number; job: Job }): void {
  const values = rows.next(INSERT_COUNTED);
  pushNew(db, values, job);
  values.push(count);
}

function pushNew(db: Session, values: SqlValue[], job: Job): void {
  const row = rowOf(job);
  values.push(
    row.jobId,
    bucketOf(row.jobId),
    row.tenantId,
    row.task,
    row.queue,
    row.lane,
    row.gate,
    row.priority,
    row.createdAt,
    row.updatedAt,
    row.status,
    isReady(db, row),
    encodeState(job),
    row.dueAt,
    row.wakeAt,
    row.deadlineAt,
    row.rev,
  );
}

/** Updates the row of a job that this transaction has looked at; `before` is null if not at all of it. */
export function updateRow(
  db: Session,
  { rows }: Writes,
  { id, before, job }: { id: number; before: Job | null; job: Job },
): void {
  const change = changeOf(before, job);
  pushChange(db, rows.next(updateOf(change.shape)), change).push(id);
}

/** Updates a row that must still be as this process left it, and for which the commit's guards must hold. */
export function updateKnown(
  db: Session,
  { rows }: Writes,
  { known, item, job }: { known: RecentRow; item: CommitItem; job: Job },
): void {
  const change = changeOf(known.job, job);
  let shape = change.shape | IF_KNOWN;
  if (item.attemptId !== null) shape |= IF_HOLDER;
  if (item.inboxRev !== null) shape |= IF_INBOX;
  const values = pushChange(db, rows.next(updateOf(shape)), change);
  values.push(known.id, known.job.rev, known.job.createdAt);
  // An attempt belongs to one job; else the id tells it from one that has taken the row of a purged job.
  values.push(item.attemptId ?? item.jobId);
  if (item.inboxRev !== null) values.push(item.inboxRev);
}

/**
 * Which statement it takes. One bit for each column that gets a value and one for each that gets null, in the order of
 * CHANGING; one for what follows from the rest, and for each condition; and above them the status, as its place in the list.
 */
type Shape = number;
const VALUE = 1;
const NULL = VALUE << CHANGING.length;
const READY = NULL << CHANGING.length;
const NEXT_REV = READY << 1;
const ENDS_NOW = READY << 2;
const IF_KNOWN = READY << 3;
const IF_HOLDER = READY << 4;
const IF_INBOX = READY << 5;
const STATUS = READY << 6;

const valueOf = (column: (typeof CHANGING)[number]): Shape => VALUE << CHANGING.indexOf(column);
const REV = valueOf('rev');
const ATTEMPT_ID = valueOf('attempt_id');
const INCARNATION = valueOf('incarnation');
const DUE_AT = valueOf('due_at');
const WAKE_AT = valueOf('wake_at');
const DEADLINE_AT = valueOf('deadline_at');
const UPDATED_AT = valueOf('updated_at');
const FINISHED_AT = valueOf('finished_at');

type Change = { readonly shape: Shape; readonly job: Job; readonly row: ChangingColumns };

/**
 * Only what differs is written: a column that stands still costs no index anything. What comes from a short list, null
 * above all, or follows from another value is part of the statement: handing over a value costs as much as storing it
 * (bench/store).
 */
function changeOf(before: Job | null, job: Job): Change {
  const row = changingOf(job);
  const was = before && changingOf(before);
  let shape = STATUSES.indexOf(row.status) * STATUS;
  shape |= changed(REV, was?.rev, row.rev);
  shape |= changed(ATTEMPT_ID, was?.attemptId, row.attemptId);
  shape |= changed(INCARNATION, was?.incarnation, row.incarnation);
  shape |= changed(DUE_AT, was?.dueAt, row.dueAt);
  shape |= changed(WAKE_AT, was?.wakeAt, row.wakeAt);
  shape |= changed(DEADLINE_AT, was?.deadlineAt, row.deadlineAt);
  shape |= changed(UPDATED_AT, was?.updatedAt, row.updatedAt);
  shape |= changed(FINISHED_AT, was?.finishedAt, row.finishedAt);
  if (row.dueAt !== null) shape |= READY;
  if (row.rev - 1 === before?.rev) shape += NEXT_REV - REV;
  if (shape & UPDATED_AT && row.finishedAt === row.updatedAt) shape += ENDS_NOW - FINISHED_AT;
  return { shape, job, row };
}

/** `was` is undefined where nobody has looked. */
function changed(column: Shape, was: SqlValue | undefined, now: SqlValue): Shape {
  if (was === now) return 0;
  return now === null ? column << CHANGING.length : column;
}

/** The values of a change, at the end of a list, in the order of the statement that its shape takes. */
function pushChange(db: Session, values: SqlValue[], { shape, job, row }: Change): SqlValue[] {
  values.push(encodeState(job));
  if (shape & REV) values.push(row.rev);
  if (shape & ATTEMPT_ID) values.push(row.attemptId);
  if (shape & INCARNATION) values.push(row.incarnation);
  if (shape & DUE_AT) values.push(row.dueAt);
  if (shape & WAKE_AT) values.push(row.wakeAt);
  if (shape & DEADLINE_AT) values.push(row.deadlineAt);
  if (shape & UPDATED_AT) values.push(row.updatedAt);
  if (shape & FINISHED_AT) values.push(row.finishedAt);
  if (shape & READY) values.push(isReady(db, row));
  return values;
}

const updates = new Map<Shape, Batched>();

function updateOf(shape: Shape): Batched {
  const known = updates.get(shape);
  if (known !== undefined) return known;
  const update = makeUpdate(shape);
  updates.set(shape, update);
  return update;
}

function makeUpdate(shape: Shape): Batched {
  const valued = ['state', ...CHANGING.filter((_, i) => shape & (VALUE << i))];
  const nulls = CHANGING.filter((_, i) => shape & (NULL << i));
  const keys = ['id'];
  if (shape & IF_KNOWN) keys.push('rev', 'created_at', shape & IF_HOLDER ? 'attempt_id' : 'job_id');
  if (shape & IF_INBOX) keys.push('inbox_rev');

  const given = [...valued, ...(shape & READY ? ['ready'] : []), ...keys];
  const sql = (from: string, value: (place: number) => string): string => {
    const set = [
      `status = '${STATUSES[Math.floor(shape / STATUS)]}'`,
      ...valued.map((column, i) => `${column} = ${value(i)}`),
      ...nulls.map((column) => `${column} = NULL`),
    ];
    if (shape & NEXT_REV) set.push('rev = jobs.rev + 1');
    if (shape & ENDS_NOW) set.push(`finished_at = ${value(valued.indexOf('updated_at'))}`);
    // A job that is held stays out of the claim index, whatever becomes of it.
    if (shape & READY) set.push(`ready = ${value(valued.length)} AND NOT held`);
    else if (nulls.includes('due_at')) set.push('ready = 0');
    const where = keys.map((column, i) => `jobs.${column} = ${value(given.length - keys.length + i)}`);
    if (shape & IF_HOLDER) where.push('incarnation IS NOT NULL');
    return `UPDATE jobs SET ${set.join(', ')} ${from} WHERE ${where.join(' AND ')}`;
  };
  return new Batched(given.length, {
    one: sql('', (place) => `?${place + 1}`),
    many: ({ table, value }) => `WITH ${table} ${sql('FROM given', value)}`,
  });
}
