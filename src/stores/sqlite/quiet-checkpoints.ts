import type { Clock } from '../../ports/clock.js';
import type { Session } from './session.js';

/** Nothing has been saved for so long, or up to twice as long: most likely nobody waits. */
const QUIET_MS = 5;
/** So many commits are worth a look at what they have left. */
const WORTH_A_LOOK = 20;
/** So many pages are moved together, half as many as SQLite lets gather. */
const WORTH_MOVING = 500;

/**
 * What is saved goes into SQLite's write-ahead log, and from there into the database, a thousand pages at a time: by whichever commit
 * comes to that, which takes ten times as long as the others, and the next as well. Where commits come singly this is one of a hundred and fifty. Moved
 * in a quiet moment before, nobody waits for it. Under load there is none, and SQLite does as it did.
 */
export class QuietCheckpoints {
  readonly #db: Pick<Session, 'get'>;
  readonly #clock: Pick<Clock, 'after'>;
  /** Since the last look. */
  #commits = 0;
  #cancel: (() => void) | null = null;

  constructor(db: Pick<Session, 'get'>, clock: Pick<Clock, 'after'>) {
    this.#db = db;
    this.#clock = clock;
  }

  /** To be called behind each commit. */
  readonly committed = (): void => {
    this.#commits += 1;
    if (this.#commits >= WORTH_A_LOOK && this.#cancel === null) this.#wait();
  };

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #wait(): void {
    const commits = this.#commits;
    this.#cancel = this.#clock.after(QUIET_MS, () => {
      this.#cancel = null;
      if (this.#commits !== commits) this.#wait();
      else this.#look();
    });
  }

  #look(): void {
    this.#commits = 0;
    try {
      if (this.#pagesLeft('NOOP') >= WORTH_MOVING) this.#pagesLeft('PASSIVE');
    } catch {
      // What was saved is safe in the log. Where SQLite's own moving fails within a commit, it tells nobody either.
    }
  }

  /** How much of the log has not been moved. PASSIVE moves what nobody is reading, and waits for no one. */
  #pagesLeft(mode: 'NOOP' | 'PASSIVE'): number {
    const found = this.#db.get<{ log: number; checkpointed: number }>(`PRAGMA wal_checkpoint(${mode})`);
    return found === undefined ? 0 : found.log - found.checkpointed;
  }
}
