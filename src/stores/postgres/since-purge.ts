import type { CommitItem } from '../../ports/store.js';

/** More than a process has in flight. What was known of attempts that were lost to others goes with the rest. */
const MOST = 100_000;

/**
 * Where something was saved, and after which purge. A server is known by the time of its start, and its log by the file that it lies in:
 * another has taken the place of it, or a backup was restored. Purges have numbers.
 */
export type Mark = { readonly server: number; readonly log: number; readonly purge: number };

/** The last revision that this process has saved of a job, and what had been before that. */
type Last = { rev: number; mark: Mark };

/**
 * A revision that this process has saved is there for as long as no job has been purged since, in the same log. While that is so,
 * the next record need not look it up, nor hold it: it costs a third less (decision 56).
 */
export class SincePurge {
  readonly #last = new Map<string, Last>();
  #mark: Mark = { server: 0, log: 0, purge: 0 };

  /** `read`: with the revision, or before it; null if nobody has looked. */
  saved({ jobId, rev }: Pick<CommitItem, 'jobId' | 'rev'>, read: Mark | null): void {
    const last = this.#last.get(jobId);
    if (read === null) {
      // What had been before the last revision had been before this one.
      if (last?.rev === rev - 1) last.rev = rev;
      return;
    }
    const mark = this.#markOf(read);
    if (last) {
      last.rev = rev;
      last.mark = mark;
      return;
    }
    if (this.#last.size >= MOST) this.#last.clear();
    this.#last.set(jobId, { rev, mark });
  }

  /** No record follows for now. */
  forget(jobId: string): void {
    this.#last.delete(jobId);
  }

  /** What had been before all that these follow, if that is known, and nothing is known to have been since; else null. */
  before(items: readonly CommitItem[]): Mark | null {
    for (const { jobId, rev } of items) {
      const last = this.#last.get(jobId);
      if (last?.rev !== rev - 1 || last.mark !== this.#mark) return null;
    }
    return this.#mark;
  }

  /** The newest mark is one object, which all that bear it share. */
  #markOf(read: Mark): Mark {
    const { server, log, purge } = this.#mark;
    const isSameLog = read.server === server && read.log === log;
    if (isSameLog && read.purge <= purge) return read.purge === purge ? this.#mark : read;
    this.#mark = read;
    return read;
  }
}
