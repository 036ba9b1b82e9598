import { PawlError } from '../errors.js';
import type { Command, Failure, Job, WorkerRef } from '../kernel/index.js';
import type { Engine } from './engine.js';
import { give } from './give.js';
import { rejectionError } from './rejection-error.js';
import { noteAnswer, type Authority } from './operator.js';
import { ownJob } from './own-job.js';

/** What is to become of the job, without its handler. */
export type InternalOutcome = 'success' | 'force_fail' | 'transient_fail';

/**
 * Walks a job along a path of its life without its handler, for drills and tests of what is behind it: to success, to
 * the dead-letter queue, or one transient failure further. It does not wait for the time of a retry. A job that a live
 * worker holds is left alone.
 */
export async function internalRun(
  engine: Engine,
  jobId: string,
  { outcome, tenantId, actor }: Authority & { readonly outcome: InternalOutcome },
): Promise<Job> {
  const { spec, status, attemptId: held, worker: holder } = await ownJob(engine, jobId, { tenantId });
  const asked = `run job ${jobId}`;
  const order = async (command: Command): Promise<Job> => {
    const given = await give(engine, jobId, () => ({ command, needsSteps: true }));
    await noteAnswer(engine, given, { spec, actor, asked });
    if (given.ok) return given.job;
    // A worker may have taken it meanwhile.
    const isTaken = given.code === 'STALE_ATTEMPT' || given.details['from'] === 'running';
    throw isTaken ? jobHeld(jobId, 'another') : rejectionError(given, asked);
  };
  const base = () => ({ now: engine.now(), actor });
  if (status === 'running' && held !== null) {
    // In the place of the worker that is gone, which would have ended it so.
    await expectHolderGone(engine, jobId, holder);
    return order(ending(outcome, { ...base(), attemptId: held }));
  }
  const attemptId = `internal-${engine.newId(0)}`;
  const worker = { id: 'internal', incarnation: attemptId };
  await order({ type: 'claim', ...base(), attemptId, worker, early: true });
  return order(ending(outcome, { ...base(), attemptId }));
}

function ending(
  outcome: InternalOutcome,
  held: { readonly now: number; readonly actor: string; readonly attemptId: string },
): Command {
  if (outcome === 'success') return { type: 'complete', ...held, result: 'null' };
  const retryable = outcome === 'transient_fail';
  return { type: 'fail-attempt', ...held, failure: { ...FAILURE, retryable } };
}

const FAILURE: Omit<Failure, 'retryable'> = {
  code: 'TASK_EXECUTION_FAILED',
  message: 'failed on request',
  class: 'transient',
};

async function expectHolderGone(engine: Engine, jobId: string, worker: WorkerRef | null): Promise<void> {
  if (worker === null) return;
  const { workers, now } = await engine.store.workers({ incarnations: [worker.incarnation] });
  const [holder] = workers;
  if (holder === undefined || holder.dead || holder.leaseUntil <= now) return;
  throw jobHeld(jobId, worker.id);
}

function jobHeld(jobId: string, worker: string): PawlError {
  return new PawlError('JOB_HELD', {
    detail: `job ${jobId} is held by worker '${worker}'`,
    details: { jobId, worker },
  });
}
