import { PawlError } from '../errors.js';
import { UnreadableLog, type Timestamp } from '../kernel/index.js';
import type { Claimed, ClaimRequest, Loaded } from '../ports/store.js';

/** How long one is left out of searches. Sooner costs those behind it a place more often; later, and one that was repaired waits. */
const LEFT_ALONE_MS = 60_000;
/** So many are left out; of more, those that were met last. Each is compared with every job that a search finds. */
const MOST = 1_000;
/** Of many that are told of together so many are named. */
const MOST_NAMED = 20;
/** How often one claim looks again because of them: bounds the time it takes. */
const MOST_TRIES = 3;

/**
 * Jobs that this process has met and could not read: their rows are damaged, or of a later release. Nobody else waits because of
 * them: searches leave them out, others are claimed and recovered. Each is told of once, by the next search, which fails with it.
 */
export class UnreadableJobs {
  readonly #metAt = new Map<string, Timestamp>();
  readonly #told = new Set<string>();
  readonly #untold: PawlError[] = [];
  /** How many times one was met. */
  #met = 0;

  /**
   * Claims; again where all that were found cannot be read, for there may be others behind them. One for a tenant tells of nothing: the
   * job may be another's.
   */
  async claiming(
    { tenantId }: Pick<ClaimRequest, 'tenantId'>,
    claim: () => Promise<Claimed>,
  ): Promise<Claimed> {
    if (tenantId === undefined) this.tell();
    for (let tries = 1; ; tries++) {
      const before = this.#met;
      const claimed = await claim();
      if (claimed.jobs.length > 0 || this.#met === before || tries === MOST_TRIES) return claimed;
    }
  }

  /** Throws for those that nobody has been told of: the first of them, which names the others. */
  tell(): void {
    const [first, ...others] = this.#untold.splice(0);
    if (first === undefined) return;
    if (others.length === 0) throw first;
    const jobIds = others.map(({ details }) => String(details['jobId']));
    throw new PawlError(first.code, {
      detail: `${others.length + 1} jobs cannot be read, and are left alone, also ${jobIds.slice(0, MOST_NAMED).join(', ')}; of the first: ${String(first.cause)}`,
      details: first.details,
      cause: first.cause,
    });
  }

  /** The ids of those that are left out. */
  get leftOut(): readonly string[] {
    return this.#metAt.size === 0 ? NOBODY : [...this.#metAt.keys()];
  }

  /** Those that were met long ago are tried again; so are all that were met later than now, by a clock that was set back. */
  tryAgain(now: Timestamp): void {
    for (const [jobId, at] of this.#metAt)
      if (at + LEFT_ALONE_MS <= now || at > now) this.#metAt.delete(jobId);
  }

  /** What `read` makes of a job; null if it cannot be read. A store that fails meanwhile says nothing about the job. */
  reading(jobId: string, now: Timestamp, read: () => Loaded): Loaded | null {
    try {
      return read();
    } catch (error) {
      if (error instanceof PawlError) throw error;
      this.#meet(jobId, now, error);
      return null;
    }
  }

  #meet(jobId: string, now: Timestamp, cause: unknown): void {
    this.#met += 1;
    this.#metAt.delete(jobId);
    this.#metAt.set(jobId, now);
    if (this.#metAt.size > MOST) this.#metAt.delete(this.#metAt.keys().next().value ?? '');
    if (this.#told.has(jobId) || this.#told.size === MOST) return;
    this.#told.add(jobId);
    this.#untold.push(unreadable(jobId, cause));
  }
}

const NOBODY: readonly string[] = [];

function unreadable(jobId: string, cause: unknown): PawlError {
  const problem = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof UnreadableLog ? cause.code : 'EVENT_UNREADABLE';
  return new PawlError(code, {
    detail: `job ${jobId} cannot be read, and is left alone: ${problem}`,
    details: { jobId },
    cause,
  });
}
