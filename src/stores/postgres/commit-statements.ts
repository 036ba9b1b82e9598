import type { CommitItem } from '../../ports/store.js';
import { byText, inOrder } from './identities.js';
import { luggageNames, luggageOf, unpacked } from './luggage.js';
import { NOW, type Queries, type Session } from './session.js';
import { inSameLog, type Mark } from './since-purge.js';
import {
  changes,
  LOG_OF_CHANGES,
  LOGGED_CHANGE,
  NEW_COLUMNS,
  newJobs,
  OUTBOX_COLUMNS,
  outboxBatch,
  setChanged,
} from './write-rows.js';

/** When commits went through; and, unless all of them did, the ids of the jobs of those that did, with spaces between. */
export type Outcome = Partial<Mark> & {
  readonly now: number;
  readonly count: number;
  readonly ids: string | null;
};

/** How long a group waits for a row that someone else has locked, before its items go singly. */
const patienceOf = (timeout: string): string =>
  `patience AS MATERIALIZED (SELECT set_config('lock_timeout', '${timeout}', true))`;
export const PATIENCE = patienceOf('200ms');
/** Starts wait for nobody but those who have taken the same key: either they end at once, or it may take them long. */
const LITTLE_PATIENCE = patienceOf('20ms');
/** Of how many there are, the second value of the statement: their ids are read only to find out which of them are missing. */
export const OUTCOME = `SELECT ${NOW} AS now, count(*)::int AS count, CASE WHEN count(*) < $2 THEN string_agg(job_id, ' ') END AS ids`;

/** In the order of their ids, in which indexes take them best. All or none: nothing need be handed back to know. */
export function saveCreates(db: Queries, unsorted: readonly CommitItem[]): Promise<Outcome[]> {
  const items = unsorted.toSorted(byJobId);
  const jobs = newJobs(items, { alias: 'n', first: 3 });
  const owned = ownAll(items, 3 + jobs.values.length);
  const posted = postAll(items, 3 + jobs.values.length + owned.values.length);
  return db.rows(
    `WITH ${LITTLE_PATIENCE},
     ${owned.sql}
     ${posted.sql}
     created AS (INSERT INTO pawl.jobs (${NEW_COLUMNS}, ready)
       SELECT n.*, n.due_at IS NOT NULL AND n.due_at <= ${NOW} FROM patience, ${jobs.from}),
     listed AS (INSERT INTO pawl.created (tenant_id, job_ids)
       SELECT l.tenant_id, array_agg(l.job_id) FROM ${jobs.only(['tenant_id', 'job_id'], 'l')} GROUP BY l.tenant_id)
     SELECT ${NOW} AS now, $2::int AS count, NULL AS ids`,
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

export const byJobId = (a: CommitItem, b: CommitItem): number => byText(a.jobId, b.jobId);

/**
 * Rows are updated, and with it locked, in the order of their ids. The lists meet no other list, only rows by their key:
 * the server plans such a statement well for one row and for a thousand. If the log has a row already for one of those that
 * are ours, its key undoes them all, and they are sent singly.
 */
export function saveChanges(
  { listed: db, sincePurge }: Session,
  unsorted: readonly CommitItem[],
): Promise<Outcome[]> {
  const items = unsorted.toSorted(byJobId);
  const luggage = luggageOf(items);
  const { server = null, log = null } = sincePurge.before(items) ?? {};
  const { from, values } = changes(items, { alias: 'c', first: 5 }, luggage);
  const returned = [LOGGED_CHANGE, ...luggageNames(luggage)].join(', ');
  return db.rows(
    `WITH ${PATIENCE},
     ours AS (UPDATE pawl.jobs j SET ${setChanged(NOW)} FROM patience, ${from} WHERE j.job_id = c.job_id
       AND (c.holder IS NULL OR (j.attempt_id = c.holder AND j.incarnation IS NOT NULL))
       AND (c.inbox_rev IS NULL OR j.inbox_rev = c.inbox_rev) AND ${FOLLOWS} RETURNING ${returned}),
     ${unpacked(luggage, 'ours')}
     logged AS (INSERT INTO pawl.log ${LOG_OF_CHANGES} FROM ours c)
     ${OUTCOME} FROM ours`,
    [db.fixedNow(), items.length, server, log, ...values],
  );
}

/**
 * The revision before is there: the row stands for it, or else it is in the log. Where this process has saved it, and the log is still the
 * same, it has not gone without the row.
 */
const FOLLOWS = `(j.rev = c.log_rev - 1 OR (SELECT ${inSameLog(3)})
       OR EXISTS (SELECT 1 FROM pawl.log p WHERE p.job_id = c.job_id AND p.rev = c.log_rev - 1))`;
