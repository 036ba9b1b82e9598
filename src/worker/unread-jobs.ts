/** For how long one is left to others, the first time; then twice as long each time: every try leaves two rows in its log. */
const FIRST_MS = 60_000;
/** Longer, and one that was mended would wait in vain for a worker that remembers it. */
const MOST_MS = 3_600_000;
/** So many are remembered: every claim names them. */
const MOST = 500;

/**
 * Jobs that this worker has claimed and could not read: their logs are damaged, or of a later release. They were handed back, and are
 * left to others, who may know more.
 */
export class UnreadJobs {
  readonly #elapsed: () => number;
  readonly #met = new Map<string, { readonly until: number; readonly ms: number }>();

  /** `elapsed`: this process's own time. */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /** False: there are too many to remember one more. It must not be handed back at once, or it would be claimed at once again. */
  leave(jobId: string): boolean {
    const now = this.#elapsed();
    const before = this.#met.get(jobId);
    if (before === undefined && this.#met.size >= MOST && !this.#makeRoom(now)) return false;
    const ms = before === undefined ? FIRST_MS : Math.min(before.ms * 2, MOST_MS);
    this.#met.delete(jobId);
    this.#met.set(jobId, { until: now + ms, ms });
    return true;
  }

  #makeRoom(now: number): boolean {
    for (const [jobId, { until }] of this.#met) if (until <= now) return this.#met.delete(jobId);
    return false;
  }

  /** It could be read, or need not be remembered. */
  forget(jobId: string): void {
    this.#met.delete(jobId);
  }

  /** The ids of those that are left to others for the moment. */
  get left(): readonly string[] {
    if (this.#met.size === 0) return NONE;
    const now = this.#elapsed();
    return [...this.#met].flatMap(([jobId, { until }]) => (until > now ? [jobId] : []));
  }
}

const NONE: readonly string[] = [];
