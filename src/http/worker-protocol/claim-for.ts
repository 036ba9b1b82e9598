import { taskOf, type WorkerRef } from '../../kernel/index.js';
import type { ClaimLane, Claimed } from '../../ports/store.js';
import { claimDecision } from '../../worker/claim-decision.js';
import { limitedLane } from '../../worker/lanes.js';
import { attemptName } from '../../worker/names.js';
import type { Backend, Caller } from '../route.js';

export type AskedClaim = {
  readonly worker: WorkerRef;
  readonly lanes: readonly ClaimLane[];
  readonly limit: number;
  readonly hasSuspect: boolean;
  readonly except: readonly string[];
};

/** Claims for a remote worker: due jobs of its tenant, decided on here as its own process would. */
export async function claimFor(
  { engine, tasks, desk }: Pick<Backend, 'engine' | 'tasks' | 'desk'>,
  { worker, lanes, limit, hasSuspect, except }: AskedClaim,
  { tenantId }: Caller,
): Promise<Claimed> {
  await engine.subscriptions.refreshIfStale();
  const decision = claimDecision(engine, {
    worker,
    hasSuspect,
    // Drawn, not counted: no server knows what the others have given out.
    nextAttemptId: () => attemptName(worker, draw(engine.random)),
  });
  const claimed = await engine.store.claim({
    worker,
    lanes: lanes.map((lane) => limited(lane, { tasks, tenantId })),
    limit,
    afterTenant: '',
    tenantId,
    except,
    decide: decision.decide,
  });
  const heads = claimed.jobs.map((job) => {
    const head = decision.headOf(job.spec.jobId) ?? { link: '', inboxRev: 0 };
    desk.heads.put({ head: { job, ...head }, steps: null });
    return head;
  });
  return { ...claimed, decided: { heads, leftSuspects: decision.leftSuspects() } };
}

/**
 * A task's limits are the server's where it knows the task. Elsewhere they are what the worker says: its rate then counts
 * for its own tenant, so that nobody can use up somebody else's.
 */
function limited(
  asked: ClaimLane,
  { tasks, tenantId }: { tasks: Backend['tasks']; tenantId: string },
): ClaimLane {
  const known = tasks.get(taskOf(asked.lane));
  if (known !== undefined) return limitedLane(asked.lane, known);
  const { rate } = asked;
  return { ...asked, rate: rate ? { ...rate, name: JSON.stringify([tenantId, rate.name]) } : null };
}

const MOST_DRAWN = 1_000_000_000;

/** Sixty bits: within one life of one worker none comes twice. */
function draw(random: Backend['engine']['random']): string {
  return `${1 + random.int(MOST_DRAWN - 1)}${`${random.int(MOST_DRAWN)}`.padStart(9, '0')}`;
}
