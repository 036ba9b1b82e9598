import { runEndOf, hasEnded, type RunSnapshot } from '../contracts/index.js';
import type { Engine } from '../engine/engine.js';
import { readRun, toldOf } from '../engine/runs/read-run.js';
import { reconcileJob, type RunFinding } from '../engine/runs/run-finding.js';
import type { Job } from '../kernel/index.js';
import type { RunStates } from './run-states.js';

/**
 * Records what was found out later about the run of a job, where the run is kept: with what its tracker has told, or, if nobody tracks
 * it, beside its job. Throws INVALID_TRANSITION for a run that is not interrupted.
 */
export async function reconcileJobRun(
  engine: Engine,
  { job, runs }: { readonly job: Job; readonly runs: RunStates | null },
  finding: RunFinding,
): Promise<RunSnapshot> {
  const told = await toldOf(runs, job);
  if (told === null || runs === null) {
    await reconcileJob(engine, job, finding);
    return readRun(engine, runs, job);
  }
  // Its job has ended, and nobody was left to tell: only what has ended is found out about.
  const end = runEndOf(job);
  if (end?.status === 'interrupted' && !hasEnded(told.status)) await runs.end(told.run_id, end);
  return runs.reconcile(told.run_id, finding);
}
