import { laneOf } from '../../kernel/index.js';
import type { CommitItem } from '../../ports/store.js';
import { SAVED, saveCarefully, type Saved } from './commit-carefully.js';
import { byText, inOrder } from './identities.js';
import { luggageNames, luggageOf, unpacked } from './luggage.js';
import { isUnreadable } from './server-error.js';
import { NOW, type Queries, type Session } from './session.js';
import type { NoticeBoard } from './wake-ups.js';
import {
  changes,
  LOG_OF_CHANGES,
  LOGGED_CHANGE,
  NEW_COLUMNS,
  newJobs,
  OUTBOX_COLUMNS,
  outboxBatch,
  RECORD_COLUMNS,
  recordBatch,
  setChanged,
} from './write-rows.js';

/**
 * Saves a group of commits: those of one kind together, in one statement that is its own transaction. Whatever does not
 * go through as hoped has written nothing and is sent again singly, with all that it takes to say why. That happens in
 * a lane of its own: a start that waits for someone else's key holds nobody up.
 */
export function saveGroup(
  session: Session,
  items: readonly CommitItem[],
  board: NoticeBoard,
): Promise<readonly (Saved | Promise<Saved>)[]> {
  const [first] = items;
  if (items.length !== 1 || !first) return saveTogether(session, items);
  if (isRecord(first)) return saveAlone(session, first, saveRecord(session.listed, first));
  const { rev, job } = first;
  return rev === 1 && job?.status === 'queued' && !isRare(first)
    ? saveStart(session, first, { board, lane: laneOf(job.spec) })
    : saveTogether(session, items);
}

async function saveTogether(
  session: Session,
  items: readonly CommitItem[],
): Promise<(Saved | Promise<Saved>)[]> {
  const saved: Through = new Map();
  const groups = [...byKind(items)].map(([save, group]) => abreast(session, saved, group, save));
  await (groups.length === 1 ? groups[0] : Promise.all(groups));
  const last = new Map<string, Promise<unknown>>();
  return items.map((item) => {
    const through = saved.get(item);
    if (through !== undefined) return through;
    // In order within a job: a commit is never sent before the one that it follows.
    const turn = (last.get(item.jobId) ?? Promise.resolve()).then(() => saveCarefully(session, item));
    last.set(
      item.jobId,
      turn.catch(() => undefined),
    );
    return turn;
  });
}

/** What comes alone, as steps of one job do: the time of this is all there is to it. */
async function saveAlone(
  session: Session,
  item: CommitItem,
  saving: Promise<Outcome[]>,
): Promise<(Saved | Promise<Saved>)[]> {
  try {
    const [outcome] = await saving;
    if (outcome?.count === 1) {
      remember(session, item);
      return [{ reply: SAVED, now: outcome.now }];
    }
  } catch (error) {
    if (!isConflict(error) && !isUnreadable(error)) throw error;
  }
  return [saveCarefully(session, item)];
}

/** A job that may run at once: those who wait for such hear of it from the server, while this process hears that it is saved. */
async function saveStart(
  session: Session,
  item: CommitItem,
  { board, lane }: { board: NoticeBoard; lane: string },
): Promise<readonly (Saved | Promise<Saved>)[]> {
  const notice = board.noticeOf(item.jobId, lane);
  if (notice === null) return saveAlone(session, item, saveCreates(session.listed, [item]));
  const saved = await saveAlone(session, item, saveCreates(session.listedWith(notice), [item]));
  return saved.map((one) => {
    if (one instanceof Promise) return one;
    board.tellHere(lane);
    return { ...one, told: true };
  });
}

/** A step record that brings nothing along. */
const isRecord = (item: CommitItem): boolean =>
  item.job === null && item.rev > 1 && !isRare(item) && luggageOf([item]).length === 0;

/** What goes together, and how. A job's second commit, and what is rare, goes singly. */
function byKind(items: readonly CommitItem[]): Map<Save, CommitItem[]> {
  const seen = new Set<string>();
  const kinds = new Map<Save, CommitItem[]>();
  for (const item of items) {
    if (seen.has(item.jobId) || isRare(item)) continue;
    seen.add(item.jobId);
    const save = item.rev === 1 ? saveCreates : item.job === null ? saveRecords : saveChanges;
    const group = kinds.get(save);
    if (group) group.push(item);
    else kinds.set(save, [item]);
  }
  return kinds;
}

/**
 * Looked at one by one: what goes by an effect's result or, without touching the job's row, by its inbox; what takes over a key,
 * or a dead letter. A job that fails makes one; any other that names one has to find it as it was.
 */
function isRare({ rev, job, inboxRev, dlqItem, noResultOf, identities }: CommitItem): boolean {
  const replaces = identities.some((identity) => identity.replaces !== undefined);
  const takesLetter = dlqItem !== null && (rev === 1 || dlqItem.version > 1);
  return noResultOf !== null || replaces || takesLetter || (job === null && inboxRev !== null);
}

/** The commits that went through, and what is answered to them. */
type Through = Map<CommitItem, Saved>;
/** When they did; and, unless all of them did, the ids of the jobs whose commits went through, with spaces between. */
type Outcome = { readonly now: number; readonly count: number; readonly ids: string | null };
type Save = (db: Queries, items: readonly CommitItem[]) => Promise<Outcome[]>;

/** From this many on, commits are sent in two halves: the server works on the first while the second is being written. */
const WORTH_HALVING = 400;

/** Adds those that went through. Each commit concerns a job of its own, so that their order says nothing. */
async function abreast(
  session: Session,
  saved: Through,
  items: readonly CommitItem[],
  save: Save,
): Promise<void> {
  if (items.length < WORTH_HALVING) return together(session, saved, items, save);
  const half = items.length >> 1;
  const first = together(session, saved, items.slice(0, half), save);
  const second = sent().then(() => together(session, saved, items.slice(half), save));
  await Promise.all([first, second]);
}

/** Once everything that was asked for is on its way. */
const sent = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** In one statement. */
async function together(
  session: Session,
  saved: Through,
  items: readonly CommitItem[],
  save: Save,
): Promise<void> {
  try {
    const [outcome] = await save(session.listed, items);
    if (outcome === undefined) return;
    const ids = outcome.count === items.length ? null : new Set(outcome.ids?.split(' '));
    const answer = { reply: SAVED, now: outcome.now };
    for (const item of items) {
      if (ids !== null && !ids.has(item.jobId)) continue;
      saved.set(item, answer);
      remember(session, item);
    }
  } catch (error) {
    if (!isConflict(error) && !isUnreadable(error)) throw error;
  }
}

/** For the claims to come. Only what is durable: a transaction may still be undone. */
function remember(session: Session, { jobId, job, link }: CommitItem): void {
  if (job !== null) session.recent.set(jobId, { job, link });
}

const UNIQUE_VIOLATION = '23505';
const LOCK_NOT_AVAILABLE = '55P03';

/** Someone else's row stands in the way of one of them, or will once its transaction ends. */
function isConflict(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : '';
  return code === UNIQUE_VIOLATION || code === LOCK_NOT_AVAILABLE;
}

/** How long a group waits for a row that someone else has locked, before its items go singly. */
const PATIENCE = `patience AS MATERIALIZED (SELECT set_config('lock_timeout', '200ms', true))`;
/** Of how many there are, the second value of the statement: their ids are read only to find out which of them are missing. */
const OUTCOME = `SELECT ${NOW} AS now, count(*)::int AS count, CASE WHEN count(*) < $2 THEN string_agg(job_id, ' ') END AS ids`;

/** In the order of their ids, in which indexes take them best. */
function saveCreates(db: Queries, unsorted: readonly CommitItem[]): Promise<Outcome[]> {
  const items = unsorted.toSorted(byJobId);
  const jobs = newJobs(items, { alias: 'n', first: 3 });
  const owned = ownAll(items, 3 + jobs.values.length);
  const posted = postAll(items, 3 + jobs.values.length + owned.values.length);
  return db.rows(
    `WITH ${PATIENCE},
     ${owned.sql}
     ${posted.sql}
     created AS (INSERT INTO pawl.jobs (${NEW_COLUMNS}, ready)
       SELECT n.*, n.due_at IS NOT NULL AND n.due_at <= ${NOW} FROM patience, ${jobs.from} RETURNING job_id),
     listed AS (INSERT INTO pawl.created (job_ids) SELECT array_agg(job_id) FROM created)
     ${OUTCOME} FROM created`,
    [db.fixedNow(), items.length, ...jobs.values, ...owned.values, ...posted.values],
  );
}

type Part = { readonly sql: string; readonly values: readonly unknown[] };
const NOTHING: Part = { sql: '', values: [] };

/** What new jobs are known by besides their ids. */
function ownAll(items: readonly CommitItem[], first: number): Part {
  const wanted = items
    .flatMap(({ jobId, identities }) => identities.map((identity) => ({ jobId, ...identity })))
    .toSorted(inOrder);
  if (wanted.length === 0) return NOTHING;
  return {
    sql: `owned AS (INSERT INTO pawl.identities (tenant_id, kind, value, job_id) SELECT w.* FROM patience,
       unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::text[], $${first + 3}::text[]) AS w),`,
    values: [
      wanted.map(({ tenantId }) => tenantId),
      wanted.map(({ kind }) => kind),
      wanted.map(({ value }) => value),
      wanted.map(({ jobId }) => jobId),
    ],
  };
}

/** The mail of commits that are saved all or none. */
function postAll(items: readonly CommitItem[], first: number): Part {
  if (items.every(({ outbox }) => outbox.length === 0)) return NOTHING;
  const { from, values } = outboxBatch(items, { alias: 'o', first });
  return { sql: `posted AS (INSERT INTO pawl.outbox (${OUTBOX_COLUMNS}) SELECT o.* FROM ${from}),`, values };
}

const byJobId = (a: CommitItem, b: CommitItem): number => byText(a.jobId, b.jobId);

/**
 * Rows are updated, and with it locked, in the order of their ids. The lists meet no other list, only rows by their key:
 * the server plans such a statement well for one row and for a thousand. If the log has a row already for one of those that
 * are ours, its key undoes them all, and they are sent singly.
 */
function saveChanges(db: Queries, unsorted: readonly CommitItem[]): Promise<Outcome[]> {
  const items = unsorted.toSorted(byJobId);
  const luggage = luggageOf(items);
  const { from, values } = changes(items, { alias: 'c', first: 3 }, luggage);
  const returned = [LOGGED_CHANGE, ...luggageNames(luggage)].join(', ');
  return db.rows(
    `WITH ${PATIENCE},
     ours AS (UPDATE pawl.jobs j SET ${setChanged(NOW)} FROM patience, ${from} WHERE j.job_id = c.job_id
       AND (c.holder IS NULL OR (j.attempt_id = c.holder AND j.incarnation IS NOT NULL))
       AND (c.inbox_rev IS NULL OR j.inbox_rev = c.inbox_rev) AND ${FOLLOWS} RETURNING ${returned}),
     ${unpacked(luggage, 'ours')}
     logged AS (INSERT INTO pawl.log ${LOG_OF_CHANGES} FROM ours c)
     ${OUTCOME} FROM ours`,
    [db.fixedNow(), items.length, ...values],
  );
}

/** The revision before is there: the row stands for it, or else it is in the log. */
const FOLLOWS = `(j.rev = c.log_rev - 1
       OR EXISTS (SELECT 1 FROM pawl.log p WHERE p.job_id = c.job_id AND p.rev = c.log_rev - 1))`;

/**
 * Step records never touch the job's row: the log's key is their fence, and one that is taken undoes them all, as it does changes.
 * The row before is held for as long as this takes, or a purge that deletes both could let a record pass that came far too late.
 */
function saveRecords(db: Queries, items: readonly CommitItem[]): Promise<Outcome[]> {
  const [item] = items;
  const luggage = luggageOf(items);
  if (items.length === 1 && item && luggage.length === 0) return saveRecord(db, item);
  const { from, values } = recordBatch(items, { alias: 'c', first: 3 }, luggage);
  return db.rows(
    `WITH ${PATIENCE},
     next AS MATERIALIZED (SELECT c.* FROM patience, ${from}, ${BEFORE}),
     ${unpacked(luggage, 'next')}
     logged AS (INSERT INTO pawl.log (${RECORD_COLUMNS}) SELECT ${RECORD_COLUMNS} FROM next ORDER BY job_id RETURNING job_id)
     ${OUTCOME} FROM logged`,
    [db.fixedNow(), items.length, ...values],
  );
}

/** One step after the other, in one job: there is nobody to be held up, and the time of this statement is all there is. */
function saveRecord(db: Queries, { jobId, rev, commandId, body, link }: CommitItem): Promise<Outcome[]> {
  return db.rows(
    `INSERT INTO pawl.log (job_id, rev, command_id, body, link) SELECT $2::text, $3::int, $4::text, $5::text, $6::text
     FROM (SELECT 1 FROM pawl.log p WHERE p.job_id = $2 AND p.rev = $3 - 1 FOR KEY SHARE) AS held
     RETURNING ${NOW} AS now, 1 AS count`,
    [db.fixedNow(), jobId, rev, commandId, body, link],
  );
}

const BEFORE = `LATERAL (SELECT 1 FROM pawl.log p WHERE p.job_id = c.job_id AND p.rev = c.rev - 1 FOR KEY SHARE) AS held`;
