import type { ClaimLane } from '../../ports/store.js';
import { JOIN_REST, REST, restOf, type Idle, type RestTuple } from './load.js';
import type { Session } from './session.js';

/** A due job: where it stands in its turn, and which revision of it. */
export type Candidate = Idle & {
  readonly priority: number;
  readonly due_at: number;
  readonly gate: string;
  readonly lane: string;
  readonly tenant_id: string;
};

export function inTurn(a: Candidate, b: Candidate): number {
  return b.priority - a.priority || a.due_at - b.due_at || (a.job_id < b.job_id ? -1 : 1);
}

const COLUMNS = 'jobs.id, jobs.job_id, jobs.rev, created_at, inbox_rev, priority, due_at, gate, tenant_id';
const MAY_RUN = '(deadline_at IS NULL OR deadline_at > ?)';

type DueTuple = readonly [
  id: number,
  jobId: string,
  rev: number,
  createdAt: number,
  inboxRev: number,
  priority: number,
  dueAt: number,
  gate: string,
  tenantId: string,
  ...rest: RestTuple | readonly [],
];

function candidate(lane: string, tuple: DueTuple): Candidate {
  const [id, job_id, rev, created_at, inbox_rev, priority, due_at, gate, tenant_id, ...whole] = tuple;
  const rest = whole.length === 0 ? null : restOf(whole);
  return { id, job_id, rev, created_at, inbox_rev, priority, due_at, gate, lane, tenant_id, rest };
}

export type Stretch = {
  readonly lane: string;
  readonly tenantId: string;
  readonly gate: string;
  readonly now: number;
  readonly limit: number;
  readonly leftOut: readonly string[];
};

/** The first jobs of one stretch of the claim index, but for those that are left out. */
export function dueAt(db: Session, { lane, tenantId, gate, now, limit, leftOut }: Stretch): Candidate[] {
  const tuples = db.tuples<DueTuple>(
    `SELECT ${COLUMNS} FROM jobs WHERE ready = 1 AND lane = ? AND tenant_id = ? AND gate = ? AND ${MAY_RUN}
     ORDER BY priority DESC, due_at, job_id LIMIT +?`,
    lane,
    tenantId,
    gate,
    now,
    limit + leftOut.length,
  );
  return but(leftOut, tuples)
    .slice(0, limit)
    .map((tuple) => candidate(lane, tuple));
}

const but = (leftOut: readonly string[], tuples: readonly DueTuple[]): readonly DueTuple[] =>
  leftOut.length === 0 ? tuples : tuples.filter(([, jobId]) => !leftOut.includes(jobId));

/** So many jobs are few. */
const FEW = 20;

const DUE_IN_LANE = `WHERE ready = 1 AND lane = ? AND ${MAY_RUN} LIMIT +?`;
const FEW_DUE = `SELECT ${COLUMNS} FROM jobs ${DUE_IN_LANE}`;
const FEW_WHOLE = `SELECT ${COLUMNS}, ${REST} FROM jobs ${JOIN_REST} ${DUE_IN_LANE}`;

type FewSearch = {
  readonly lanes: readonly ClaimLane[];
  readonly limit: number;
  readonly now: number;
  readonly leftOut: readonly string[];
  /** Read in full. */
  readonly whole: boolean;
};

/**
 * Most claims come when one job has just been started, and nothing else is due. Then nobody's turn comes before another's,
 * and one statement for each lane finds all that there is, instead of five. In turn; null if there is more, or if some of it is under a limit.
 */
export function fewDue(
  db: Session,
  { lanes, limit, now, leftOut, whole }: FewSearch,
): readonly Candidate[] | null {
  if (lanes.some(({ rate }) => rate)) return null;
  const most = Math.min(limit, FEW);
  const found: Candidate[] = [];
  for (const { lane } of lanes) {
    const room = most - found.length + 1 + leftOut.length;
    const tuples = but(leftOut, db.tuples<DueTuple>(whole ? FEW_WHOLE : FEW_DUE, lane, now, room));
    found.push(...tuples.map((tuple) => candidate(lane, tuple)));
    if (found.length > most || found.some(({ gate }) => gate !== '')) return null;
  }
  return found.toSorted(inTurn);
}
