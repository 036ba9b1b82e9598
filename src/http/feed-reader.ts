import type { Engine } from '../engine/engine.js';
import { readLog } from '../engine/read-log.js';
import { PawlError } from '../errors.js';
import { changesOf, eventsOf, type Change, type Job } from '../kernel/index.js';
import type { FeedPosition, LogRow } from '../ports/store.js';

/** One commit, as listeners hear of it. */
export type FeedItem = {
  readonly position: FeedPosition;
  readonly jobId: string;
  readonly rev: number;
  readonly tenantId: string;
  readonly changes: readonly Change[];
};

/** `next`: where to go on. `isLast`: there is no more by now. */
export type FeedPage = {
  readonly items: readonly FeedItem[];
  readonly next: FeedPosition;
  readonly isLast: boolean;
};

const PAGE = 500;

/**
 * Reads the feed from one place on, and remembers the jobs that it has met as they were there: the next commit of each can be shown
 * without reading its whole log again. Whoever reads elsewhere meets other states, and takes a reader of its own.
 */
export class FeedReader {
  readonly #engine: Engine;
  readonly #mostJobs: number;
  readonly #jobs = new Map<string, Job>();

  constructor(engine: Engine, { mostJobs }: { mostJobs: number }) {
    this.#engine = engine;
    this.#mostJobs = mostJobs;
  }

  async read(after: FeedPosition): Promise<FeedPage> {
    const { rows } = await this.#engine.store.feed({ after, limit: PAGE });
    const items: FeedItem[] = [];
    for (const row of rows) {
      const item = await this.#itemOf(row);
      if (item) items.push(item);
    }
    return { items, next: rows.at(-1)?.position ?? after, isLast: rows.length < PAGE };
  }

  /** What was remembered: whoever has caught up needs it no more. */
  forget(): void {
    this.#jobs.clear();
  }

  /** Null: its job was purged in between, or cannot be read, for which nobody else waits. */
  async #itemOf(row: LogRow & { position: FeedPosition }): Promise<FeedItem | null> {
    const { jobId, rev, position } = row;
    const changes = await this.#changesOf(row).catch((error: unknown) => {
      // A store that fails says nothing about the job.
      if (error instanceof PawlError) throw error;
      this.#engine.log.warn('a commit is left out of the feed, since it cannot be read', {
        jobId,
        rev,
        error,
      });
      return [];
    });
    const last = changes.at(-1)?.after;
    if (last === undefined) return null;
    this.#jobs.delete(jobId);
    if (last.finishedAt === null) this.#jobs.set(jobId, last);
    if (this.#jobs.size > this.#mostJobs) this.#jobs.delete(this.#jobs.keys().next().value ?? '');
    return { position, jobId, rev, tenantId: last.spec.tenantId, changes };
  }

  async #changesOf(row: LogRow): Promise<readonly Change[]> {
    const { jobId, rev } = row;
    const before = rev === 1 ? null : this.#jobs.get(jobId);
    if (before === undefined || (before && before.rev !== rev - 1)) {
      const changes = changesOf(await readLog(this.#engine.store, jobId));
      return changes.filter((change) => change.rev === rev);
    }
    return changesOf([{ jobId, rev, events: eventsOf(row) }], before);
  }
}
