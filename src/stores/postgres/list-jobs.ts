import { TERMINAL_STATUSES, type JobRow } from '../../kernel/index.js';
import type { JobList, ListFilter, Reply } from '../../ports/store.js';
import { ENDED_OTHERWISE, hasIndex, indexedStates, OF_OTHER_TENANTS } from '../job-indexes.js';
import { unreadableCursor } from '../list-cursor.js';
import type { Queries, Session } from './session.js';

type Ways = Pick<Session, 'watched' | 'single'>;

type Listed = JobRow & { readonly createdXid: string };

/**
 * Newest first. The cursor is the place of the last job of the page before, whatever is added or deleted meanwhile. Read from an
 * index, if there is one that has few others, else by looking through the newest, and only then through all.
 */
export async function list(ways: Ways, filter: ListFilter): Promise<Reply<JobList>> {
  const rows = await find(ways, filter);
  const page = rows.slice(0, filter.limit).map(({ createdXid, ...row }) => ({
    row,
    place: `${createdXid}.${row.jobId}`,
  }));
  const places = page.map(({ place }) => place);
  const next = rows.length > filter.limit ? (places.at(-1) ?? null) : null;
  return { now: await ways.single.now(), rows: page.map(({ row }) => row), places, next };
}

async function find({ watched: db, single }: Ways, filter: ListFilter): Promise<Listed[]> {
  const wanted = filter.limit + 1;
  const place = placeOf(filter.cursor);
  const values = [filter.tenantId, filter.statuses, filter.task, ...place, wanted];
  const isOther = hasIndex(filter.tenantId);
  const states = indexedStates(filter.statuses);
  if (states !== null && (states.live.length === 0 || (await areFewLive(db))))
    return db.rows<Listed>(LIST_BY_STATE, values);
  const newest = await db.rows<Listed>(isOther ? LIST_NEWEST_OF_TENANT : LIST_NEWEST, values);
  if (newest.length === wanted) return newest;
  if (states !== null) return db.rows<Listed>(LIST_BY_STATE, values);
  if (isOther) {
    const older = await db.rows(OLDER_OF_TENANT, [filter.tenantId, ...place]);
    if (older.length === 0) return newest;
  }
  return single.rows<Listed>(LIST_ALL, values);
}

async function areFewLive(db: Queries): Promise<boolean> {
  const [row] = await db.rows<{ areFew: boolean }>(ARE_FEW_LIVE);
  return row?.areFew ?? false;
}

/** The transaction that created it, and its id. */
function placeOf(cursor: string | null): readonly [xid: string, jobId: string] {
  if (cursor === null) return [BEHIND_ALL, ''];
  const [, xid, jobId] = /^(\d{1,19})\.([\w.:-]+)$/.exec(cursor) ?? [];
  if (xid === undefined || jobId === undefined) throw unreadableCursor(cursor);
  return [xid, jobId];
}

/** The last number that a transaction can have. */
const BEHIND_ALL = String(2n ** 64n - 1n);

const JOB_ROW = `j.job_id AS "jobId", j.tenant_id AS "tenantId", j.task, j.queue, j.lane, j.gate, j.priority, j.status, j.rev,
  j.attempt_id AS "attemptId", j.incarnation, j.due_at AS "dueAt", j.wake_at AS "wakeAt", j.deadline_at AS "deadlineAt",
  j.created_at AS "createdAt", j.updated_at AS "updatedAt", j.finished_at AS "finishedAt", j.created_xid AS "createdXid"`;
const FITS = `($1::text IS NULL OR j.tenant_id = $1) AND ($2::text[] IS NULL OR j.status = ANY($2)) AND ($3::text IS NULL OR j.task = $3)`;

/** So many of the newest jobs are looked through in the order in which they were created. */
const NEWEST = 10_000;

/** Ids of the newest, of the statements that made them. Goes along the index for as long as it takes. */
const made = (whose: string, { xid, jobId, behind = '' }: { xid: string; jobId: string; behind?: string }) =>
  `SELECT c.xid, i.job_id FROM pawl.created c, unnest(c.job_ids) AS i (job_id)
    WHERE ${whose} AND c.xid <= ${xid}::xid8 AND (c.xid, i.job_id) < (${xid}::xid8, ${jobId})
    ORDER BY c.xid DESC, i.job_id DESC ${behind}`;

const OF_ANY = '($1::text IS NULL OR c.tenant_id = $1)';
const OF_TENANT = `c.tenant_id = $1 AND c.${OF_OTHER_TENANTS}`;

/** As long as it takes to fill the page, which costs the same among millions as among hundreds. */
const newest = (whose: string): string => `SELECT j.* FROM (
    ${made(whose, { xid: '$4', jobId: '$5', behind: `LIMIT ${NEWEST}` })}) made,
  LATERAL (SELECT ${JOB_ROW} FROM pawl.jobs j WHERE j.job_id = made.job_id AND ${FITS} OFFSET 0) j
  ORDER BY made.xid DESC, made.job_id DESC LIMIT $6`;
const LIST_NEWEST = newest(OF_ANY);
const LIST_NEWEST_OF_TENANT = newest(OF_TENANT);
/** Whether there are more of a tenant's than that. */
const OLDER_OF_TENANT = made(OF_TENANT, { xid: '$2', jobId: '$3', behind: `OFFSET ${NEWEST} LIMIT 1` });

const among = (which: string): string => `(SELECT ${JOB_ROW} FROM pawl.jobs j
  WHERE ${which} AND ${FITS} AND (j.created_xid, j.job_id) < ($4::xid8, $5)
  ORDER BY j.created_xid DESC, j.job_id DESC LIMIT $6)`;

/** Every job that has not ended is ready, held by somebody, or resting: the index of each is in no order that would help. */
const LIVE = [
  'ready',
  'incarnation IS NOT NULL',
  'NOT ready AND incarnation IS NULL AND finished_at IS NULL',
];
const many = LIVE.map((which) => `(SELECT 1 FROM pawl.jobs WHERE ${which} OFFSET ${NEWEST} LIMIT 1)`);
const ARE_FEW_LIVE = `SELECT coalesce(${many.join(', ')}) IS NULL AS "areFew"`;

const endedSo = TERMINAL_STATUSES.filter((status) => status !== 'succeeded').map(
  (status) => `'${status}' = ANY($2) AND status = '${status}' AND ${ENDED_OTHERWISE}`,
);
/** By the index of each way to end, and by those three. */
const LIST_BY_STATE = `SELECT * FROM (${[...endedSo, ...LIVE].map(among).join(' UNION ALL ')}) found
  ORDER BY "createdXid" DESC, "jobId" DESC LIMIT $6`;

/** Few that fit among many that do not are found sooner by going through all. */
const LIST_ALL = `SELECT ${JOB_ROW} FROM pawl.jobs j WHERE ${FITS} AND (j.created_xid, j.job_id) < ($4::xid8, $5)
  ORDER BY j.created_xid DESC, j.job_id DESC LIMIT $6`;
