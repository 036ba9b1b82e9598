import type { Job } from '../kernel/index.js';

/** Tells those in this process who wait for a job that it has ended. Whoever waits elsewhere polls. */
export class Endings {
  readonly #waiting = new Map<string, Set<(job: Job) => void>>();

  tell(job: Job): void {
    const waiting = this.#waiting.get(job.spec.jobId);
    if (waiting === undefined) return;
    for (const hear of waiting) hear(job);
  }

  /** Answers with how to stop listening. */
  listen(jobId: string, hear: (job: Job) => void): () => void {
    const waiting = this.#waiting.get(jobId) ?? new Set();
    this.#waiting.set(jobId, waiting.add(hear));
    return () => {
      waiting.delete(hear);
      if (waiting.size === 0) this.#waiting.delete(jobId);
    };
  }
}
