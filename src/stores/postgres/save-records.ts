import type { CommitItem } from '../../ports/store.js';
import { byJobId, OUTCOME, PATIENCE, type Outcome } from './commit-statements.js';
import { luggageOf, unpacked } from './luggage.js';
import { NOW, type Queries, type Session } from './session.js';
import { MARK, nothingSince, valuesOf } from './since-purge.js';
import { RECORD_COLUMNS, recordBatch, RECORD_VALUES } from './write-rows.js';

/**
 * Step records never touch the job's row: the log's key is their fence, and one that is taken undoes them all, as it does changes.
 * The row before has to be there, for as long as this takes, or a purge that deletes both could let a record pass that came far too
 * late. It is, where this process has saved it and no purge has come since; else it is looked up and held.
 */
export async function saveRecords(session: Session, unsorted: readonly CommitItem[]): Promise<Outcome[]> {
  const items = unsorted.toSorted(byJobId);
  const [item] = items;
  if (items.length === 1 && item && luggageOf(items).length === 0) return saveRecord(session, item);
  const { listed, sincePurge } = session;
  const first = [listed.fixedNow(), items.length];
  const mark = sincePurge.before(items);
  if (mark !== null) {
    const [outcome] = await insert(listed, items, [...first, ...valuesOf(mark)], ALL_OR_NONE);
    if (outcome && outcome.count > 0) return [outcome];
  }
  return insert(listed, items, first, THOSE_THAT_FOLLOW);
}

/** Rows come in the order of the list, so that nothing need be kept or sorted on the way (decision 53). */
function insert(
  db: Queries,
  items: readonly CommitItem[],
  first: readonly unknown[],
  { ahead, where, counted }: Way,
): Promise<Outcome[]> {
  const luggage = luggageOf(items);
  const { from, values } = recordBatch(items, { alias: 'c', first: first.length + 1 }, luggage);
  const rows = `FROM patience, ${from} ${where}`;
  const next = `next AS MATERIALIZED (SELECT c.* ${rows}),\n     ${unpacked(luggage, 'next')}`;
  const logged = luggage.length === 0 ? `${RECORD_VALUES} ${rows}` : `${RECORD_COLUMNS} FROM next`;
  return db.rows(
    `WITH ${PATIENCE}, ${ahead}
     ${luggage.length === 0 ? '' : next}
     logged AS (INSERT INTO pawl.log (${RECORD_COLUMNS}) SELECT ${logged} ${counted}`,
    [...first, ...values],
  );
}

/** One step after the other, in one job: there is nobody to be held up, and the time of this statement is all there is. */
export async function saveRecord(session: Session, item: CommitItem): Promise<Outcome[]> {
  const { jobId, rev, commandId, body, link } = item;
  const { listed, sincePurge } = session;
  const values = [listed.fixedNow(), jobId, rev, commandId, body, link];
  const mark = sincePurge.before([item]);
  if (mark !== null) {
    const sql = insertOne(`WHERE ${nothingSince(7)}`);
    const [outcome] = await listed.rows<Outcome>(sql, [...values, ...valuesOf(mark)]);
    if (outcome) return [outcome];
  }
  return listed.rows(`${insertOne(`FROM (${rowBefore('$2', '$3')}) AS held`)}, ${MARK}`, values);
}

const insertOne = (source: string): string =>
  `INSERT INTO pawl.log (job_id, rev, command_id, body, link) SELECT $2::text, $3::int, $4::text, $5::text, $6::text
     ${source} RETURNING ${NOW} AS now, 1 AS count`;

const rowBefore = (jobId: string, rev: string): string =>
  `SELECT 1 FROM pawl.log p WHERE p.job_id = ${jobId} AND p.rev = ${rev} - 1 FOR KEY SHARE`;

/** What a statement finds out first, which records `c` it saves, and how it counts them. */
type Way = { readonly ahead: string; readonly where: string; readonly counted: string };

/** That all of them are saved, or none, is known without having them handed back, which takes a seventh of the time. */
const ALL_OR_NONE: Way = {
  ahead: `unpurged AS MATERIALIZED (SELECT 1 WHERE ${nothingSince(3)}),`,
  where: 'WHERE EXISTS (SELECT 1 FROM unpurged)',
  counted: `) SELECT ${NOW} AS now, count(*)::int * $2::int AS count, NULL AS ids, ${MARK} FROM unpurged`,
};

const THOSE_THAT_FOLLOW: Way = {
  ahead: '',
  where: `, LATERAL (${rowBefore('c.job_id', 'c.rev')}) AS held`,
  counted: `RETURNING job_id) ${OUTCOME}, ${MARK} FROM logged`,
};
