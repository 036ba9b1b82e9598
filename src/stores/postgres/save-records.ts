import type { CommitItem } from '../../ports/store.js';
import { byJobId, OUTCOME, PATIENCE, type Outcome } from './commit-statements.js';
import { luggageOf, unpacked } from './luggage.js';
import { NOW, type Queries, type Session } from './session.js';
import type { Mark } from './since-purge.js';
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
    const source = `WHERE ${nothingSince(3)}`;
    const [outcome] = await insert(listed, items, { first: [...first, ...valuesOf(mark)], source });
    if (outcome && outcome.count > 0) return [outcome];
  }
  return insert(listed, items, { first, source: `, LATERAL (${rowBefore('c.job_id', 'c.rev')}) AS held` });
}

/** Rows come in the order of the list, so that nothing need be kept or sorted on the way (decision 53). */
function insert(
  db: Queries,
  items: readonly CommitItem[],
  { first, source }: { readonly first: readonly unknown[]; readonly source: string },
): Promise<Outcome[]> {
  const luggage = luggageOf(items);
  const { from, values } = recordBatch(items, { alias: 'c', first: first.length + 1 }, luggage);
  const rows = `FROM patience, ${from} ${source}`;
  const next = `next AS MATERIALIZED (SELECT c.* ${rows}),\n     ${unpacked(luggage, 'next')}`;
  const logged = luggage.length === 0 ? `${RECORD_VALUES} ${rows}` : `${RECORD_COLUMNS} FROM next`;
  return db.rows(
    `WITH ${PATIENCE},
     ${luggage.length === 0 ? '' : next}
     logged AS (INSERT INTO pawl.log (${RECORD_COLUMNS}) SELECT ${logged} RETURNING job_id)
     ${OUTCOME}, ${MARK} FROM logged`,
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

const SERVER = '(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint';
const LOG = `pg_relation_filenode('pawl.log')::bigint`;

/** For a SELECT: whoever saves something later in the same transaction saves it after this. */
export const MARK = `${SERVER} AS server, ${LOG} AS log, (SELECT coalesce(max(number), 0) FROM pawl.purges) AS purge`;

/**
 * Of a mark with this value and the two behind it. FOR KEY SHARE finds no row to lock, but locks the table, and the server does that before it
 * takes the snapshot of the statement. A purge locks the table against it: one that has begun to is over by then and seen here, or waits
 * until this is over.
 */
const nothingSince = (first: number): string =>
  `${SERVER} = $${first} AND ${LOG} = $${first + 1}
     AND NOT EXISTS (SELECT 1 FROM pawl.purges WHERE number > $${first + 2} FOR KEY SHARE)`;

const valuesOf = ({ server, log, purge }: Mark): readonly number[] => [server, log, purge];
