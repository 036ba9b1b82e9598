import { PawlError } from '../errors.js';
import { isTerminal, type Command, type Failure, type Job } from '../kernel/index.js';
import type { Engine } from './engine.js';
import { give } from './give.js';
import { rejectionError } from './rejection-error.js';
import type { Authority } from './operator.js';
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
  let job = await ownJob(engine, jobId, { tenantId });
  if (job.status === 'running') await expectHolderGone(engine, job);
  const attemptId = `internal-${engine.newId(0)}`;
  const worker = { id: 'internal', incarnation: attemptId };
  const asked = `run job ${jobId}`;
  const order = async (command: (job: Job) => Command): Promise<Job> => {
    const given = await give(engine, jobId, (found) => ({ command: command(found.job), needsSteps: true }));
    if (given.ok) return given.job;
    // Between two commands of ours a worker may have taken it.
    const isTaken = given.code === 'STALE_ATTEMPT' || given.details['from'] === 'running';
    throw isTaken ? jobHeld(jobId, 'another') : rejectionError(given, asked);
  };
  const base = () => ({ now: engine.now(), actor });
  if (job.status === 'running') {
    const held = job.attemptId ?? '';
    const cause = { reason: 'lease_expired', leaseUntil: null } as const;
    job = await order(() => ({ type: 'interrupt', ...base(), attemptId: held, cause }));
    if (isTerminal(job.status)) return job;
  }
  await order(() => ({ type: 'claim', ...base(), attemptId, worker, early: true }));
  return order(() => ending(outcome, { ...base(), attemptId }));
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

async function expectHolderGone(engine: Engine, { spec, worker }: Job): Promise<void> {
  if (worker === null) return;
  const { workers, now } = await engine.store.workers({ incarnations: [worker.incarnation] });
  const [holder] = workers;
  if (holder === undefined || holder.dead || holder.leaseUntil <= now) return;
  throw jobHeld(spec.jobId, worker.id);
}

function jobHeld(jobId: string, worker: string): PawlError {
  return new PawlError('JOB_HELD', {
    detail: `job ${jobId} is held by worker '${worker}'`,
    details: { jobId, worker },
  });
}
