import { eventsOf, evolveCommit, StepLog, type Event, type Job, type StepIndex } from '../kernel/index.js';
import type { LogRow, Store } from '../ports/store.js';
import { readTogether } from './read-together.js';

/** As many rows as most logs have; of one that turns out to be longer, more at a time. */
const FIRST_PAGE = 50;
const PAGE = 1_000;

/** About what is remembered at most. Less, and a job that gets thousands of signals is read anew for each; more is the application's. */
const MOST_BYTES = 8_000_000;
const BYTES_OF_A_JOB = 1_500;
const BYTES_OF_A_WAIT = 400;

/** What a signal goes by. */
export type History = { readonly job: Job; readonly steps: StepIndex };

/**
 * Jobs that were sent signals, each with its waits: a log only grows, so that of one that was read before only what is new is read. Whoever
 * asks for the same job at the same time shares a read.
 */
export class JobHistories {
  readonly #store: Store;
  readonly #known = new Map<string, Followed>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(store: Store, mostBytes = MOST_BYTES) {
    this.#store = store;
    this.#mostBytes = mostBytes;
  }

  /** The job as it stands, if its log was read here before. */
  async remembered(jobId: string): Promise<History | null> {
    return this.#known.has(jobId) ? this.read(jobId) : null;
  }

  /** The job as it stands; null if there is none. */
  async read(jobId: string): Promise<History | null> {
    for (;;) {
      const followed = this.#known.get(jobId) ?? new Followed(this.#store, jobId);
      const wasKnown = followed.job !== null;
      this.#remember(followed);
      const isThere = await followed.catchUp();
      if (isThere && followed.job !== null) {
        if (this.#known.get(jobId) === followed) this.#remember(followed);
        return { job: followed.job, steps: followed.steps };
      }
      if (this.#known.get(jobId) === followed) this.#forget(followed);
      if (!wasKnown) return null;
    }
  }

  /** As the one that was used last; those that were used longest ago make room for it. */
  #remember(followed: Followed): void {
    this.#forget(followed);
    this.#known.set(followed.jobId, followed);
    followed.counted = followed.bytes;
    this.#bytes += followed.counted;
    for (const oldest of this.#known.values()) {
      if (this.#bytes <= this.#mostBytes || oldest === followed) return;
      this.#forget(oldest);
    }
  }

  #forget(followed: Followed): void {
    if (this.#known.delete(followed.jobId)) this.#bytes -= followed.counted;
  }
}

/** One job, as far as its log has been read. */
class Followed {
  readonly jobId: string;
  /** Waits, and what came before a checkpoint. What other steps came to is left out. */
  readonly steps = new StepLog();
  /** Whether the log that was read is still there, now read to its end. */
  readonly catchUp: () => Promise<boolean>;
  readonly #store: Store;
  #job: Job | null = null;
  #link = '';
  /** What of `bytes` is in the sum of all. */
  counted = 0;

  constructor(store: Store, jobId: string) {
    this.#store = store;
    this.jobId = jobId;
    this.catchUp = readTogether(() => this.#readOn());
  }

  get job(): Job | null {
    return this.#job;
  }

  get bytes(): number {
    return BYTES_OF_A_JOB + (this.#job?.input.length ?? 0) + this.steps.size * BYTES_OF_A_WAIT;
  }

  /** Begins with the last row that is known: its link tells whether this is the same log. An id may be given anew after a purge. */
  async #readOn(): Promise<boolean> {
    for (let limit = FIRST_PAGE; ; limit = PAGE) {
      const known = this.#job?.rev ?? 0;
      const { rows } = await this.#store.log(this.jobId, { fromRev: Math.max(1, known), limit });
      const [first] = rows;
      if (first === undefined) return false;
      if (known > 0 && (first.rev !== known || first.link !== this.#link)) return false;
      for (const row of known > 0 ? rows.slice(1) : rows) this.#take(row);
      if (rows.length < limit) return true;
    }
  }

  #take(row: LogRow): void {
    const events = eventsOf(row);
    const before = this.#job;
    this.#job = evolveCommit(before, { events });
    this.#link = row.link;
    for (const event of events) {
      const kept = withoutPayload(event);
      if (kept !== null) this.steps.apply(before, kept);
    }
  }
}

/** What tells of waits; null for everything else. */
function withoutPayload(event: Event): Event | null {
  switch (event.type) {
    case 'wait.completed':
      return { ...event, payload: null };
    case 'checkpoint.saved':
      return { ...event, state: 'null' };
    case 'wait.begun':
    case 'child.started':
      return event;
    default:
      return null;
  }
}
