import type { JobRow, Status } from '../../kernel/index.js';
import type { JobList, ListFilter, Reply } from '../../ports/store.js';
import { ENDED_OTHERWISE, hasIndex, indexedStates, OF_OTHER_TENANTS } from '../job-indexes.js';
import { placeOf } from '../list-cursor.js';
import type { SqlValue } from './driver.js';
import type { Session } from './session.js';

/** So many jobs are looked through before the event loop has its turn: that takes some milliseconds. */
const AT_A_TIME = 10_000;

type Listed = JobRow & { readonly id: number };
/** Rows that an index, or the table, has in the order of their ids, as SQL. */
type Source = { readonly among: string; readonly values: readonly SqlValue[] };

/** Those that are still wanted, before a place. */
type Rest = { readonly before: number; readonly wanted: number };

/**
 * Newest first. The cursor is the place of the last job of the page before, whatever is added or deleted meanwhile. Read from an
 * index, if there is one that has few others, else by looking through all jobs, or all of a tenant.
 */
export async function list(db: Session, filter: ListFilter): Promise<Reply<JobList>> {
  const rest = { before: placeOf(filter.cursor), wanted: filter.limit + 1 };
  const rows =
    (await byState(db, filter, rest)) ?? (await walk(db, filter, { source: sourceOf(filter), ...rest }));
  const page = rows.slice(0, filter.limit).map(({ id, ...row }) => ({ row, place: `${id}` }));
  const places = page.map(({ place }) => place);
  const next = rows.length > filter.limit ? (places.at(-1) ?? null) : null;
  return { now: db.now(), rows: page.map(({ row }) => row), places, next };
}

const sourceOf = ({ tenantId }: ListFilter): Source =>
  hasIndex(tenantId)
    ? { among: `tenant_id = ? AND ${OF_OTHER_TENANTS}`, values: [tenantId] }
    : { among: 'TRUE', values: [] };

/** All of a source, a part at a time. */
async function walk(
  db: Session,
  filter: ListFilter,
  { source, before, wanted }: Rest & { source: Source },
): Promise<Listed[]> {
  const found: Listed[] = [];
  for (let next: number | null = before; next !== null;) {
    if (next !== before) await new Promise<void>((resolve) => void setImmediate(resolve));
    const looked: Looked = look(db, filter, { source, before: next, wanted: wanted - found.length });
    found.push(...looked.rows);
    next = looked.next;
  }
  return found;
}

type Looked = { readonly rows: readonly Listed[]; readonly next: number | null };

/** Those that fit among so many places, from the last job before one on; and where those behind begin, if some are still wanted. */
function look(
  db: Session,
  filter: ListFilter,
  { source: { among, values }, before, wanted }: Rest & { source: Source },
): Looked {
  const last = db.get<{ id: number }>(
    `SELECT id FROM jobs WHERE ${among} AND id < ? ORDER BY id DESC LIMIT 1`,
    ...values,
    before,
  )?.id;
  if (last === undefined) return { rows: [], next: null };
  const from = last - AT_A_TIME + 1;
  const rows = db.all<Listed>(
    `${LISTED} WHERE ${FITS} AND ${among} AND id <= ? AND id >= ? ORDER BY id DESC LIMIT +?`,
    ...fitting(filter),
    ...values,
    last,
    from,
    wanted,
  );
  return { rows, next: rows.length === wanted ? null : from };
}

/**
 * Null: there is no index for one of the states, or too much is in it. Those that have not ended come first: what ends meanwhile
 * is found twice, and not missed.
 */
async function byState(db: Session, filter: ListFilter, rest: Rest): Promise<Listed[] | null> {
  const states = indexedStates(filter.statuses);
  const live = states && liveOf(db, filter, { ...rest, statuses: states.live });
  if (states === null || live === null) return null;
  const found = new Map(live.map((row) => [row.id, row]));
  for (const status of states.ended) {
    const source = { among: `${ENDED_OTHERWISE} AND status = ?`, values: [status] };
    for (const row of await walk(db, filter, { source, ...rest })) found.set(row.id, row);
  }
  return [...found.values()].toSorted((a, b) => b.id - a.id).slice(0, rest.wanted);
}

/** The index of each is in no order that would help. */
function liveOf(
  db: Session,
  filter: ListFilter,
  { before, wanted, statuses }: Rest & { statuses: readonly Status[] },
): Listed[] | null {
  if (statuses.length === 0) return [];
  if (db.get(ARE_MANY_LIVE) !== undefined) return null;
  return db.all<Listed>(LIST_LIVE, ...fitting({ ...filter, statuses }), before, wanted);
}

const LISTED = `SELECT id, job_id AS jobId, tenant_id AS tenantId, task, queue, lane, gate, priority, status, rev, attempt_id AS attemptId, incarnation,
  due_at AS dueAt, wake_at AS wakeAt, deadline_at AS deadlineAt, created_at AS createdAt, updated_at AS updatedAt, finished_at AS finishedAt
  FROM jobs`;
const FITS =
  'tenant_id = ifnull(?1, tenant_id) AND instr(ifnull(?2, status), status) > 0 AND task = ifnull(?3, task)';

/** Every job that has not ended is ready, held by somebody, or resting: each has an index. */
const LIVE = [
  'ready = 1',
  'incarnation IS NOT NULL',
  'ready = 0 AND incarnation IS NULL AND finished_at IS NULL',
];
const ARE_MANY_LIVE = LIVE.map(
  (which) => `SELECT * FROM (SELECT 1 FROM jobs WHERE ${which} LIMIT 1 OFFSET ${AT_A_TIME})`,
).join(' UNION ALL ');
const LIST_LIVE = `SELECT * FROM (${LIVE.map((which) => `${LISTED} WHERE ${which} AND +id < ?4 AND ${FITS}`).join(' UNION ALL ')}) ORDER BY +id DESC LIMIT +?5`;

const fitting = ({ tenantId, statuses, task }: ListFilter): readonly SqlValue[] => [
  tenantId,
  statuses && statuses.join(' '),
  task,
];
