import { PawlError } from '../errors.js';
import type { Job } from '../kernel/index.js';
import type { Engine } from './engine.js';

const FIRST_POLL_MS = 50;
const MOST_POLL_MS = 1_000;

export type AwaitOptions = { readonly timeoutMs: number | null; readonly signal?: AbortSignal };

/**
 * The job once it has ended. Told at once where it ends in this process, found by polling where it ends elsewhere. Throws
 * APP_CLOSED if nobody is left to look.
 */
export async function awaitEnd(engine: Engine, jobId: string, options: AwaitOptions): Promise<Job> {
  const { timeoutMs, signal } = options;
  const until = timeoutMs === null ? Number.POSITIVE_INFINITY : engine.clock.elapsed() + timeoutMs;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(MOST_POLL_MS, pollMs * 2)) {
    if (engine.alarms.isStopped) throw closed(jobId);
    const news = listen(engine, jobId);
    try {
      const { found } = await engine.store.load(jobId).catch((error: unknown) => {
        throw engine.alarms.isStopped ? closed(jobId) : error;
      });
      if (found === null) throw new PawlError('JOB_NOT_FOUND', { detail: `there is no job ${jobId}` });
      if (found.job.finishedAt !== null) return found.job;
      signal?.throwIfAborted();
      const leftMs = until - engine.clock.elapsed();
      if (leftMs <= 0) {
        throw new PawlError('RESULT_TIMEOUT', {
          detail: `job ${jobId} is ${found.job.status} after ${timeoutMs} ms`,
          details: { jobId, status: found.job.status },
        });
      }
      const ended = await news.within(Math.min(pollMs, leftMs), signal);
      if (ended) return ended;
    } finally {
      news.stop();
    }
  }
}

function closed(jobId: string): PawlError {
  return new PawlError('APP_CLOSED', { detail: `it cannot wait for job ${jobId} any more` });
}

/** Listens from before the job is looked at: an end in between is not missed. */
function listen(engine: Engine, jobId: string) {
  let ended: Job | null = null;
  let wake: (() => void) | null = null;
  const stop = engine.endings.listen(jobId, (job) => {
    ended = job;
    wake?.();
  });
  return {
    stop,
    async within(ms: number, signal: AbortSignal | undefined): Promise<Job | null> {
      if (ended === null) {
        await new Promise<void>((resolve) => {
          const cancel = engine.alarms.set(ms, resolve, resolve);
          wake = () => {
            cancel();
            resolve();
          };
          signal?.addEventListener('abort', wake, { once: true });
        });
        if (wake) signal?.removeEventListener('abort', wake);
      }
      return ended;
    },
  };
}
