import { PawlError } from '../errors.js';
import { stepKey, type Checkpoint, type Event, type Job } from '../kernel/index.js';
import { readInherited, type Inherited } from '../engine/inherited.js';
import type { Loaded, Store } from '../ports/store.js';
import { adoptResults } from './adopt-results.js';
import { Attempt } from './attempt.js';
import { Execution, type Surroundings } from './execution.js';
import { nothingPast, readPast, type Past } from './past.js';
import { Replay } from './replay.js';

/** A job that was created, and claimed, and nothing else yet. */
const FRESH_REV = 2;

/** A claimed job, ready to run. */
export type Prepared = {
  readonly attempt: Attempt;
  readonly execution: Execution;
  readonly skipCheckpoints: readonly Checkpoint[];
  /** Why it cannot be run after all. */
  readonly unfit: PawlError | null;
};

/**
 * Reads what a job has done so far, from its last checkpoint on, unless told to go through all of it. One that has done
 * nothing is ready at once.
 */
export function prepareAttempt(
  around: Surroundings,
  head: Loaded,
  { ignoreCheckpoints = false }: { ignoreCheckpoints?: boolean } = {},
): Prepared | Promise<Prepared> {
  const { job } = head;
  if (job.rev <= FRESH_REV && job.spec.continues === null) return prepared(around, head, nothingPast());
  const { store } = around.engine;
  const reading = Promise.all([readPast(store, job, { ignoreCheckpoints }), readBefore(store, job)]);
  return reading.then(([past, before]) =>
    before === null ? prepared(around, head, past) : continued(around, head, { past, before }),
  );
}

/** What the jobs before have recorded. That one of them is gone is for this one's log to tell. */
async function readBefore(store: Store, { spec: { continues } }: Job): Promise<Inherited | PawlError | null> {
  if (continues === null) return null;
  try {
    return await readInherited(store, continues);
  } catch (error) {
    if (error instanceof PawlError && error.code === 'CONTINUED_JOB_GONE') return error;
    throw error;
  }
}

function prepared(around: Surroundings, head: Loaded, past: Past): Prepared {
  const { engine } = around;
  const { steps, commits, skippedCheckpoints } = past;
  const replay = new Replay(engine.alarms, head.job, commits);
  const attempt = new Attempt(engine, head, { steps, replay });
  const execution = new Execution(around, attempt, { replay, inherited: null });
  return { attempt, execution, skipCheckpoints: skippedCheckpoints, unfit: null };
}

/** One that goes on with another first makes what that has recorded its own. Behind a checkpoint it has done so. */
async function continued(
  around: Surroundings,
  head: Loaded,
  { past, before }: { readonly past: Past; readonly before: Inherited | PawlError },
): Promise<Prepared> {
  const { engine } = around;
  const { steps, commits, skippedCheckpoints } = past;
  const { job } = head;
  const attempt = new Attempt(engine, head, { steps, replay: new Replay(engine.alarms, job, []) });
  const inherited = before instanceof PawlError ? null : before;
  let unfit = before instanceof PawlError ? before : null;
  let adopted: readonly Event[] = [];
  if (inherited !== null && job.checkpointRev === null) {
    const adopting = adoptResults(engine, attempt, inherited).then(
      (events) => void (adopted = events),
      (error: unknown) => {
        if (!(error instanceof PawlError)) throw error;
        unfit = error;
      },
    );
    await Promise.race([adopting, attempt.ended]);
  }
  const all =
    adopted.length === 0 ? commits : [...commits, { jobId: job.spec.jobId, rev: job.rev, events: adopted }];
  const replay = new Replay(engine.alarms, job, all, new Set(inherited?.kept().map(stepKey)));
  attempt.follow(replay);
  const execution = new Execution(around, attempt, { replay, inherited });
  return { attempt, execution, skipCheckpoints: skippedCheckpoints, unfit };
}
