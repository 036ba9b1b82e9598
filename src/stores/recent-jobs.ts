import { isTerminal, type Job } from '../kernel/index.js';

/**
 * What is remembered takes about this many bytes at most, in two generations. Less, and a process forgets what it has
 * in flight and reads it again; more is memory that the application could use.
 */
const MOST_BYTES = 64_000_000;

/** A job without its input and its failure. */
const BYTES_OF_A_JOB = 1_500;

/**
 * Jobs as this process saved them last, so that a claim need not read and decode them again. A hint: whoever uses it
 * holds it against the stored row (`isStill`).
 */
export class RecentJobs<T extends { readonly job: Job }> {
  #young = new Map<string, T>();
  #old = new Map<string, T>();
  #bytes = 0;
  #isUseful = false;
  readonly #mostBytes: number;

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /**
   * There is a worker here, who will claim. Until then nothing is remembered: a process that only starts jobs would keep
   * thousands of them for nobody, which took a tenth of its time.
   */
  begin(): void {
    this.#isUseful = this.#mostBytes > 0;
  }

  /** What is set is remembered. */
  get isUseful(): boolean {
    return this.#isUseful;
  }

  get(jobId: string): T | undefined {
    return this.#young.get(jobId) ?? this.#old.get(jobId);
  }

  /** One that has ended is forgotten: nothing more is decided on it. An older copy of it goes with its generation. */
  set(jobId: string, recent: T): void {
    if (isTerminal(recent.job.status)) {
      if (!this.#young.delete(jobId)) this.#old.delete(jobId);
      return;
    }
    if (!this.#isUseful) return;
    this.#young.set(jobId, recent);
    this.#bytes += bytesOf(recent.job);
    if (this.#bytes <= this.#mostBytes / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#bytes = 0;
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#bytes = 0;
  }
}

const bytesOf = ({ input, failure }: Job): number =>
  BYTES_OF_A_JOB + input.length + (failure === null ? 0 : failure.message.length);

/**
 * Whether a row that nobody runs is still that job. A job is the fold of its log and the log only grows, so the revision
 * says it; the time tells apart a job that was purged and created again.
 */
export function isStill(job: Job, row: { readonly rev: number; readonly created_at: number }): boolean {
  return job.rev === row.rev && job.createdAt === row.created_at;
}
