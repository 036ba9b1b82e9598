import { isPastDeadline, type InterruptCause, type Timestamp, type WorkerRef } from '../kernel/index.js';
import type { Loaded } from '../ports/store.js';
import type { Engine } from './engine.js';
import { give, type Asked } from './give.js';
import { eachApart } from './each-apart.js';
import { deliverInbox, nextMessageOr } from './signal-job.js';

/** How many jobs one round looks at. Rounds follow each other at once while there is more. */
const PAGE = 200;
const RECOVERY: WorkerRef = { id: 'recovery', incarnation: 'recovery' };

/**
 * Takes running jobs from workers that are gone. `restarted` is this worker, back after a crash: what it held before is
 * interrupted because of that. Answers whether there may be more.
 */
export async function recoverOrphans(engine: Engine, restarted: WorkerRef | null): Promise<boolean> {
  const { jobs } = await engine.store.orphans({ limit: PAGE });
  const failed = await eachApart(engine, jobs, {
    doing: 'recovering a job',
    nameOf: ({ job }) => job.spec.jobId,
    work: ({ job: lost }) =>
      give(engine, lost.spec.jobId, ({ job }) => {
        if (job.attemptId === null || job.attemptId !== lost.attemptId || job.status !== 'running')
          return null;
        const cause: InterruptCause =
          restarted !== null && job.worker?.id === restarted.id
            ? { reason: 'worker_restarted', worker: restarted }
            : { reason: 'lease_expired', leaseUntil: null };
        const { attemptId } = job;
        engine.meters.leasesExpired += 1;
        return { command: { type: 'interrupt', now: engine.now(), actor: 'recovery', attemptId, cause } };
      }),
  });
  return jobs.length === PAGE && failed.length < PAGE;
}

/** How long a job whose timer failed is left alone, and how many such are remembered. */
const LEFT_ALONE_MS = 60_000;
const MOST_LEFT_ALONE = 10_000;

/** Ends waits whose time has come, and dead-letters idle jobs past their deadline. Those that fail are not in the way of others. */
export function timerLoop(engine: Engine): () => Promise<boolean> {
  const failedAt = new Map<string, Timestamp>();
  return async () => {
    const now = engine.now();
    for (const [jobId, at] of failedAt) if (at + LEFT_ALONE_MS <= now) failedAt.delete(jobId);
    const { jobIds } = await engine.store.due({ limit: PAGE, except: [...failedAt.keys()] });
    const failed = await eachApart(engine, jobIds, {
      doing: 'ending a wait',
      nameOf: (jobId) => jobId,
      work: (jobId) => give(engine, jobId, (found) => whatIsDue(engine, found)),
    });
    for (const jobId of failed.slice(0, MOST_LEFT_ALONE - failedAt.size)) failedAt.set(jobId, now);
    // Where there are too many, the same would come again at once, and fail again.
    return jobIds.length === PAGE && failedAt.size < MOST_LEFT_ALONE;
  };
}

/** A message that lies there is what was waited for, however late its bearer, or nobody, says so. */
async function whatIsDue(engine: Engine, { job }: Loaded): Promise<Asked> {
  const now = engine.now();
  if (isPastDeadline(job, now)) {
    const attemptId = engine.nextCommandId();
    return { command: { type: 'expire-deadline', now, actor: 'recovery', attemptId, worker: RECOVERY } };
  }
  const mayBeAnswered = job.waits.some(({ kind }) => kind !== 'timer');
  const expire: Asked = { command: { type: 'expire-waits', now, actor: 'scheduler' } };
  return mayBeAnswered ? nextMessageOr(engine, job, expire) : expire;
}

/** Delivers messages whose bearer vanished between writing them down and waking the job. */
export function unreadSweep(engine: Engine): () => Promise<boolean> {
  let after: string | null = null;
  return async () => {
    const { jobIds, next } = await engine.store.unread({ after, limit: PAGE });
    await eachApart(engine, jobIds, {
      doing: 'delivering a message',
      nameOf: (jobId) => jobId,
      work: (jobId) => deliverInbox(engine, jobId),
    });
    after = next;
    return next !== null;
  };
}
