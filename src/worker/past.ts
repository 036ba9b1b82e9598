import { evolve, StepLog, type Checkpoint, type Commit, type Event, type Job } from '../kernel/index.js';
import { readLog, type NamedCommit } from '../engine/read-log.js';
import type { Store } from '../ports/store.js';
import { holderOf } from './names.js';

/** What a job has done before it was claimed. */
export type Past = {
  readonly steps: StepLog;
  readonly commits: readonly Commit[];
  /** Checkpoints that were passed over, because all of the log was asked for. */
  readonly skippedCheckpoints: readonly Checkpoint[];
};

export function nothingPast(): Past {
  return { steps: new StepLog(), commits: [], skippedCheckpoints: [] };
}

/** From the last checkpoint on, or from the very beginning. Both lead to the same result; one reads less. */
export async function readPast(
  store: Store,
  job: Job,
  { ignoreCheckpoints }: { ignoreCheckpoints: boolean },
): Promise<Past> {
  const { jobId } = job.spec;
  if (ignoreCheckpoints || job.checkpointRev === null) {
    const commits = await readLog(store, jobId);
    return { commits, ...foldAll(commits, { ignoreCheckpoints }) };
  }
  const commits = await readLog(store, jobId, job.checkpointRev);
  return { commits, steps: foldTail(commits, job), skippedCheckpoints: [] };
}

function foldAll(
  commits: readonly Commit[],
  { ignoreCheckpoints }: { ignoreCheckpoints: boolean },
): Pick<Past, 'steps' | 'skippedCheckpoints'> {
  const steps = new StepLog();
  let job: Job | null = null;
  const skippedCheckpoints: Checkpoint[] = [];
  for (const event of commits.flatMap(({ events }) => events)) {
    if (ignoreCheckpoints && event.type === 'checkpoint.saved') skippedCheckpoints.push(event);
    else steps.apply(job, event);
    job = evolve(job, event);
  }
  return { steps, skippedCheckpoints };
}

/**
 * The steps since a checkpoint. Of the job at that time only its holder and its attempt matter: the names of the commits
 * tell the one, and counting back from now the other.
 */
function foldTail(commits: readonly NamedCommit[], claimed: Job): StepLog {
  const steps = new StepLog();
  const retries = (events: readonly Event[]) => events.filter(({ type }) => type === 'attempt.failed').length;
  let retryCount = claimed.retryCount - retries(commits.flatMap(({ events }) => events));
  for (const { events, commandId } of commits) {
    const { attemptId, worker } = holderOf(commandId) ?? claimed;
    for (const event of events) {
      steps.apply({ ...claimed, attemptId, worker, retryCount }, event);
      retryCount += retries([event]);
    }
  }
  return steps;
}
