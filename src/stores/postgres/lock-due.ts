import { must, queueOf } from '../../kernel/index.js';
import { TOOK_MS, type Candidate } from './claim-few.js';
import type { Gate } from './gates.js';
import { foundRest, REST, REST_COLUMNS, type FoundRest, type Idle } from './load.js';
import type { ReadAhead } from '../read-ahead.js';
import type { Queries } from './session.js';
import type { Place, SkipAhead } from './skip-ahead.js';

/** One part of the claim index, and how many of its jobs may be taken. */
export type Stretch = Gate & { readonly room: number };

type Looking = {
  readonly now: number;
  readonly skip: SkipAhead;
  readonly reading: ReadAhead;
  /** Nobody wants these. */
  readonly leftOut: readonly string[];
};

/**
 * The first due jobs of each stretch that no other claim is at. Locked here, they are ours until the transaction ends.
 * A queue may have been paused since this claim began: whoever sees a job that was started after that sees the pause too.
 */
export async function lockDue(
  db: Queries,
  { now, skip, reading, leftOut }: Looking,
  stretches: readonly Stretch[],
  { most, except }: { most: number; except: readonly string[] },
): Promise<Candidate[]> {
  const places = stretches.map((stretch) => skip.from(keyOf(stretch), now));
  const [columns, besides] = reading.pays ? [`, ${REST_COLUMNS}`, `, ${REST}`] : ['', ''];
  const found = await db.rows<Locked>(
    `SELECT found.*, s.stretch::int, ${TOOK_MS} ${besides}
     FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::bigint[], $7::text[], $10::text[])
       WITH ORDINALITY AS s (lane, tenant_id, gate, most, urgency, due_at, job_id, queue, stretch), LATERAL (
       SELECT j.job_id, j.rev, j.created_at, j.inbox_rev, j.priority, j.due_at ${columns} FROM pawl.jobs j
       WHERE j.ready AND j.lane = s.lane AND j.tenant_id = s.tenant_id AND j.gate = s.gate
       AND (-j.priority, j.due_at, j.job_id) >= (s.urgency, s.due_at, s.job_id)
       AND (j.deadline_at IS NULL OR j.deadline_at > $8) AND j.job_id <> ALL($9)
       AND s.queue <> ALL(ARRAY(SELECT p.queue FROM pawl.paused_queues p))
       ORDER BY -j.priority, j.due_at, j.job_id LIMIT s.most FOR UPDATE SKIP LOCKED) found`,
    [
      stretches.map(({ lane }) => lane),
      stretches.map(({ tenant }) => tenant),
      stretches.map(({ gate }) => gate),
      stretches.map(({ room }) => Math.min(room, most)),
      places.map(({ urgency }) => urgency),
      places.map(({ dueAt }) => dueAt),
      places.map(({ jobId }) => jobId),
      now,
      [...except, ...leftOut],
      stretches.map(({ lane }) => queueOf(lane)),
    ],
  );
  const candidates = found.map((row) => {
    const { lane, tenant, gate } = must(stretches[row.stretch - 1], 'a row comes from a stretch');
    const { job_id, rev, created_at, inbox_rev, priority, due_at } = row;
    const rest = isWithRest(row) ? foundRest(row) : null;
    return { lane, tenant_id: tenant, gate, job_id, rev, created_at, inbox_rev, priority, due_at, rest };
  });
  // A test that sets the time wants the same answer every time.
  if (db.fixedNow() === null && except.length === 0) {
    rememberPlaces(skip, candidates, { now, tookMs: found[0]?.took_ms ?? 0 });
  }
  return candidates;
}

type Locked = Omit<Idle, 'rest'> &
  Partial<FoundRest> & {
    readonly priority: number;
    readonly due_at: number;
    /** Which of the stretches it was found in, from 1. */
    readonly stretch: number;
    /** What it took to come this far. */
    readonly took_ms: number;
  };

const isWithRest = (row: Locked): row is Locked & FoundRest => row.created !== undefined;

/** Rows come stretch by stretch, each in its order: the first of each tells where the living entries begin. */
function rememberPlaces(
  skip: SkipAhead,
  candidates: readonly Candidate[],
  { now, tookMs }: { now: number; tookMs: number },
): void {
  if (candidates.length === 0) return;
  const firsts = new Map<string, Place>();
  for (const { lane, tenant_id, gate, priority, due_at, job_id } of candidates) {
    const stretch = keyOf({ lane, tenant: tenant_id, gate });
    if (!firsts.has(stretch)) firsts.set(stretch, { urgency: -priority, dueAt: due_at, jobId: job_id });
  }
  skip.found(firsts, { now, tookMs });
}

const keyOf = ({ lane, tenant, gate }: Pick<Stretch, 'lane' | 'tenant' | 'gate'>): string =>
  `${lane}\u0000${tenant}\u0000${gate}`;
