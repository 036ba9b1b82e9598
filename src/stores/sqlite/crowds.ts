import { availableParallelism } from 'node:os';
import type { CommitItem, CommitReply } from '../../ports/store.js';
import { saveEach, saveGroup, SAVED } from './commit.js';
import { isNewJob, newJobs, rememberNewJobs, type NewJob } from './new-jobs.js';
import type { Session } from './session.js';
import { Writer } from './writer.js';

export type CrowdsOptions = {
  /** What runs in the thread. */
  readonly script: URL;
  /** So many new jobs in one group are a crowd. */
  readonly crowd: number;
  /** After so many crowds there is a thread for them: a process that starts a few jobs now and then is to have none. */
  readonly after: number;
  /** Fewer new jobs than this, that nobody is in the way of, are saved here: it takes longer to hand them over. */
  readonly few: number;
};

export const CROWDS: CrowdsOptions = {
  script: new URL('./writer-thread.js', import.meta.url),
  crowd: 32,
  after: 20,
  few: 8,
};

/** As long as this thread waits for another process's transaction. */
const BUSY_MS = 10_000;

type Replies = readonly CommitReply[] | Promise<readonly CommitReply[]>;

/**
 * Where many jobs are started at a time, a thread of its own writes them, while this one makes the next: a start takes three quarters
 * of the time, and the event loop does not wait for the disk (decision 60). All else is written in this thread: a claim decides within its
 * transaction.
 */
export class Crowds {
  readonly #db: Session;
  readonly #path: string;
  readonly #options: CrowdsOptions;
  #seen = 0;
  #opening: Promise<void> | null = null;
  #writer: Writer | null = null;

  constructor(db: Session, path: string, options: CrowdsOptions = CROWDS) {
    this.#db = db;
    this.#path = path;
    this.#options = options;
  }

  /** Whether they are to be collected by themselves. */
  takes(items: readonly CommitItem[]): items is readonly NewJob[] {
    if (this.#writer?.isOver === true) this.#writer = null;
    return this.#writer !== null && items.every(isNewJob);
  }

  /** To be told of each group that is saved in this thread. */
  see(items: readonly CommitItem[]): void {
    if (this.#opening !== null || items.length < this.#options.crowd || !items.every(isNewJob)) return;
    this.#seen += 1;
    if (this.#seen >= this.#options.after) void this.begin();
  }

  /** Begins the thread, if it can have a core to itself, and the database is in a file. Where it does not come to be, all stays as it is. */
  begin(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  save(items: readonly NewJob[]): Replies {
    const [db, writer] = [this.#db, this.#writer];
    if (writer === null || (items.length < this.#options.few && db.isIdle)) return saveGroup(db, items);
    const statements = newJobs(db, items);
    return statements === null ? saveGroup(db, items) : this.#handOver(writer, statements, items);
  }

  async close(): Promise<void> {
    await this.#opening;
    await this.#writer?.close();
  }

  async #handOver(
    writer: Writer,
    statements: NonNullable<ReturnType<typeof newJobs>>,
    items: readonly NewJob[],
  ): Promise<readonly CommitReply[]> {
    const last = await this.#db.writeElsewhere(() => writer.save(statements));
    if (last === null) return saveEach(this.#db, items);
    rememberNewJobs(this.#db, items, last);
    return items.map(() => SAVED);
  }

  async #open(): Promise<void> {
    if (this.#path === ':memory:' || availableParallelism() === 1) return;
    const { script } = this.#options;
    const writer = await Writer.open({ path: this.#path, script, busyMs: BUSY_MS });
    // Opened at its path, the file may have been replaced since.
    if (writer === null || this.#db.isFileThere()) this.#writer = writer;
    else await writer.close();
  }
}
