import { decodeEvents, must, type Timestamp } from '../../kernel/index.js';
import type { FeedPosition, LogRow, Reply } from '../../ports/store.js';
import { unreadablePosition } from '../feed-position.js';
import { NOW, type Queries } from './session.js';

const LOG_ROW = 'job_id AS "jobId", rev, command_id AS "commandId", body, link';

/** A part of one job's log. */
export type LogPage = { readonly jobId: string; readonly fromRev: number; readonly limit: number };

/** Parts that are asked for at the same time, by jobs that go on. */
export async function logs(
  db: Queries,
  pages: readonly LogPage[],
): Promise<Reply<{ rows: readonly LogRow[] }>[]> {
  const rows = await db.rows<{ now: number; page: number } & (Omit<LogRow, 'jobId'> | { rev: null })>(
    `SELECT ${NOW} AS now, (i.number - 1)::int AS page, l.* FROM unnest($2::text[], $3::int[], $4::int[])
     WITH ORDINALITY AS i (job_id, from_rev, most, number) LEFT JOIN LATERAL (
       SELECT 1 AS rev, first_command AS "commandId", first_body AS body, first_link AS link FROM pawl.jobs
       WHERE jobs.job_id = i.job_id AND i.from_rev <= 1 UNION ALL
       (SELECT rev, command_id, body, link FROM pawl.log
       WHERE log.job_id = i.job_id AND rev >= i.from_rev ORDER BY rev LIMIT i.most)) l ON true`,
    [
      db.fixedNow(),
      pages.map(({ jobId }) => jobId),
      pages.map(({ fromRev }) => fromRev),
      pages.map(({ limit }) => limit),
    ],
  );
  const { now } = must(rows[0], 'each page has a row');
  const found = pages.map((): LogRow[] => []);
  for (const row of rows) {
    if (row.rev === null) continue;
    const { page, rev, commandId, body, link } = row;
    const { jobId } = must(pages[page], 'pages are numbered');
    must(found[page], 'pages are numbered').push({ jobId, rev, commandId, body, link });
  }
  // Not by the server, which would sort whole rows.
  return found.map((read, page) => ({
    now,
    rows: read.toSorted((a, b) => a.rev - b.rev).slice(0, pages[page]?.limit),
  }));
}

/**
 * Transactions commit in another order than they begin. Rows are shown once every transaction that began before theirs
 * has ended: a long one delays the feed, and nothing is ever passed over.
 */
export async function feed(
  db: Queries,
  { after, limit }: { after: FeedPosition | null; limit: number },
): Promise<Reply<{ rows: (LogRow & { position: FeedPosition })[] }>> {
  const { xid, jobId, rev } = readPosition(after);
  const rows = await db.rows<LogRow & { position: FeedPosition }>(
    `SELECT ${LOG_ROW}, concat_ws(' ', xid, job_id, rev) AS position FROM (${FEED_OF_CREATED} UNION ALL ${FEED_OF_LOG}) rows
     ORDER BY xid, job_id, rev LIMIT $4`,
    [xid, jobId, rev, limit],
  );
  return { now: await db.now(), rows };
}

/** Each as long as what is asked for, in its own order: the first of both together are what comes next. */
const FEED_OF_LOG = `(SELECT xid, job_id, rev, command_id, body, link FROM pawl.log
  WHERE (xid, job_id, rev) > ($1::xid8, $2, $3::int) AND xid < pg_snapshot_xmin(pg_current_snapshot())
  ORDER BY xid, job_id, rev LIMIT $4)`;
const FEED_OF_CREATED = `(SELECT made.xid, made.job_id, 1 AS rev, j.first_command AS command_id, j.first_body AS body, j.first_link AS link
  FROM (SELECT c.xid, i.job_id FROM pawl.created c, unnest(c.job_ids) AS i (job_id)
    WHERE c.xid >= $1::xid8 AND c.xid < pg_snapshot_xmin(pg_current_snapshot())
    AND (c.xid, i.job_id, 1) > ($1::xid8, $2, $3::int) ORDER BY c.xid, i.job_id) made,
  LATERAL (SELECT * FROM pawl.jobs WHERE jobs.job_id = made.job_id OFFSET 0) j ORDER BY made.xid, made.job_id LIMIT $4)`;

/** Rows of transactions that are still under way come behind it, and so does all that is yet to begin. */
export async function feedEnd(db: Queries): Promise<Reply<{ position: FeedPosition }>> {
  const [row] = await db.rows<{ xmin: string }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin',
    [],
  );
  return { now: await db.now(), position: `${row?.xmin ?? '0'}  0` };
}

/** By the first event that is there behind the end of the feed. What another cluster has numbered, whose dump was restored, is not meant. */
export async function feedHeldBack(db: Queries): Promise<Reply<{ since: Timestamp | null }>> {
  const rows = await db.rows<{ body: string }>(
    `SELECT body FROM ((SELECT xid, body FROM pawl.log WHERE ${HELD_BACK} ORDER BY xid LIMIT 1) UNION ALL
       (SELECT xid, (SELECT first_body FROM pawl.jobs WHERE job_id = created.job_ids[1]) FROM pawl.created
        WHERE ${HELD_BACK} ORDER BY xid LIMIT 1)) behind ORDER BY xid LIMIT 1`,
  );
  const decoded = decodeEvents(rows[0]?.body ?? '');
  return { now: await db.now(), since: decoded.ok ? (decoded.events[0]?.at ?? null) : null };
}

const HELD_BACK = `xid >= pg_snapshot_xmin(pg_current_snapshot()) AND xid < pg_snapshot_xmax(pg_current_snapshot())`;

function readPosition(after: FeedPosition | null): { xid: string; jobId: string; rev: string } {
  if (after === null) return { xid: '0', jobId: '', rev: '0' };
  const [, xid = '', jobId = '', rev = ''] = /^(\d{1,19}) (\S*) (\d{1,9})$/.exec(after) ?? [];
  if (xid === '') throw unreadablePosition(after);
  return { xid, jobId, rev };
}

/** As many by each of the two small indexes, however many more are due. */
export async function due(
  db: Queries,
  { limit, except }: { limit: number; except: readonly string[] },
): Promise<Reply<{ jobIds: string[] }>> {
  const now = await db.now();
  const first = (column: string): string =>
    `(SELECT ${column} AS at, created_xid, job_id FROM pawl.jobs WHERE ${column} <= $1 AND job_id <> ALL($2)
     ORDER BY ${column}, created_xid, job_id LIMIT $3)`;
  const rows = await db.rows<{ job_id: string }>(
    `SELECT job_id FROM (${first('wake_at')} UNION ALL ${first('deadline_at')}) AS found ORDER BY at, created_xid, job_id`,
    [now, except, limit],
  );
  return { now, jobIds: [...new Set(rows.map(({ job_id }) => job_id))].slice(0, limit) };
}
