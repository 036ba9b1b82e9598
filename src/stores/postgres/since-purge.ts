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
 * the next record need not look it up, nor hold it: it costs a third less (decision 56). The job's end need not, either (decision 57).
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

const SERVER = '(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint';
const LOG = `pg_relation_filenode('pawl.log')::bigint`;

/** For a SELECT: whoever saves something later in the same transaction saves it after this. */
export const MARK = `${SERVER} AS server, ${LOG} AS log, (SELECT coalesce(max(number), 0) FROM pawl.purges) AS purge`;

/** Of a mark with this value and the two behind it. */
export const inSameLog = (first: number): string =>
  `${SERVER} = $${first}::bigint AND ${LOG} = $${first + 1}::bigint`;

/**
 * FOR KEY SHARE finds no row to lock, but locks the table, and the server does that before it takes the snapshot of the statement. A purge
 * locks the table against it: one that has begun to is over by then and seen here, or waits until this is over.
 */
export const nothingSince = (first: number): string =>
  `${inSameLog(first)} AND NOT EXISTS (SELECT 1 FROM pawl.purges WHERE number > $${first + 2} FOR KEY SHARE)`;

export const valuesOf = ({ server, log, purge }: Mark): readonly number[] => [server, log, purge];
