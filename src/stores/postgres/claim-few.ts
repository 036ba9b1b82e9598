import { queueOf } from '../../kernel/index.js';
import type { ClaimLane, ClaimRequest } from '../../ports/store.js';
import { foundRest, REST, REST_COLUMNS, type FoundRest, type Idle } from './load.js';
import { NOW, type Queries } from './session.js';

/** A due job: where it stands in its turn, and which revision of it. Nobody runs it, so its row is up to date. */
export type Candidate = Idle & {
  readonly tenant_id: string;
  readonly gate: string;
  readonly priority: number;
  readonly due_at: number;
  readonly lane: string;
};

/** What a search took to come to the first that it found, for its SELECT. */
export const TOOK_MS = `(SELECT date_part('epoch', clock_timestamp() - statement_timestamp()) * 1000) AS took_ms`;

/** So many jobs are few. */
const MOST = 20;

/** A search that took longer has stepped over thousands of dead entries. */
const SLOW_MS = 3;

/** How many claims then go without one: one, and twice as many each time the next is slow as well. A busy machine has slow moments. */
const MOST_REST = 256;
/** How many do after it found a crowd. */
const REST_AFTER_CROWD = 20;

/**
 * Most claims come when one job has just been started, and nothing else is due. Then nobody's turn comes before another's:
 * one statement finds all that there is, and reads it, and travels with the one that the claim begins with. One round
 * trip less, or two.
 */
export class FewFirst {
  #rest = 0;
  #restAfterSlow = 1;

  /** The next claim goes without it. */
  get rests(): boolean {
    return this.#rest > 0;
  }

  /** All that is due but for these, if it is little and under no limit; else null, and it is as if nobody had asked. */
  async find(
    db: Queries,
    { lanes, limit, tenantId }: Search,
    leftOut: readonly string[],
  ): Promise<readonly Candidate[] | null> {
    if (this.#rest > 0) {
      this.#rest -= 1;
      return null;
    }
    if (tenantId !== undefined || lanes.some(({ rate }) => rate)) return null;
    const most = Math.min(limit, MOST);
    const names = lanes.map(({ lane }) => lane);
    const rows = await db.rows<(Found | { readonly job_id: null }) & { readonly took_ms: number }>(
      `WITH found AS (SELECT j.job_id, j.rev, j.created_at, j.inbox_rev, j.lane, j.tenant_id, j.gate, j.priority, j.due_at,
         ${REST_COLUMNS} FROM pawl.jobs j WHERE j.ready AND j.lane = ANY(ARRAY(
           SELECT l.lane FROM unnest($2::text[], $3::text[]) AS l (lane, queue)
           WHERE l.queue <> ALL(ARRAY(SELECT p.queue FROM pawl.paused_queues p))))
         AND (j.deadline_at IS NULL OR j.deadline_at > ${NOW}) AND j.job_id <> ALL($5) LIMIT $4 FOR UPDATE SKIP LOCKED)
       SELECT found.*, ${TOOK_MS}, ${REST} FROM (SELECT) AS always LEFT JOIN found ON true`,
      [db.fixedNow(), names, names.map(queueOf), most + 1, leftOut],
    );
    const found = rows.flatMap((row) => (row.job_id === null ? [] : [{ rest: foundRest(row), ...row }]));
    if ((rows[0]?.took_ms ?? 0) > SLOW_MS) {
      this.#rest = this.#restAfterSlow;
      this.#restAfterSlow = Math.min(MOST_REST, 2 * this.#restAfterSlow);
    } else {
      this.#restAfterSlow = 1;
      if (found.length > most) this.#rest = REST_AFTER_CROWD;
    }
    return found.length > most || found.some(({ gate }) => gate !== '') ? null : found.toSorted(inTurn);
  }
}

type Found = Omit<Candidate, 'rest'> & FoundRest;

type Search = Pick<ClaimRequest, 'limit' | 'tenantId'> & { readonly lanes: readonly ClaimLane[] };

export function inTurn(a: Candidate, b: Candidate): number {
  return b.priority - a.priority || a.due_at - b.due_at || (a.job_id < b.job_id ? -1 : 1);
}
