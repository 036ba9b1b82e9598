import { changesOf, decodeEvents, InvariantViolation, type Change, type Job } from '../kernel/index.js';
import type { Engine } from '../engine/engine.js';
import { readLog } from '../engine/read-log.js';
import { repeat, type Stoppable } from '../engine/repeat.js';
import { Bell } from '../engine/bell.js';
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

type Listener = (items: readonly FeedItem[]) => void;

const POLL_MS = 100;
const PAGE = 500;
/** Jobs whose last state is kept, so that the next commit can be shown without reading the whole log again. */
const MOST_JOBS = 5_000;

/**
 * Reads the store's feed once for all who listen in this process. While nobody listens, nothing is read. It begins where
 * the feed ends when the first listener comes; whoever wants what came before reads that on its own.
 */
export class FeedHub {
  readonly #engine: Engine;
  readonly #listeners = new Set<Listener>();
  readonly #jobs = new Map<string, Job>();
  #loop: Promise<Stoppable> | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** From now on `hear` gets every commit, at least once. Answers with how to stop, once nothing can be missed any more. */
  async listen(hear: Listener): Promise<() => Promise<void>> {
    this.#listeners.add(hear);
    this.#loop ??= this.#start();
    try {
      await this.#loop;
    } catch (error) {
      this.#listeners.delete(hear);
      throw error;
    }
    return async () => {
      this.#listeners.delete(hear);
      if (this.#listeners.size === 0) await this.#stop();
    };
  }

  /** Behind all that has happened by now. */
  async end(): Promise<FeedPosition> {
    return (await this.#engine.store.feedEnd()).position;
  }

  /** A page of the feed, for one who has to catch up. */
  async read(after: FeedPosition): Promise<FeedPage> {
    const { rows } = await this.#engine.store.feed({ after, limit: PAGE });
    const items: FeedItem[] = [];
    for (const row of rows) {
      const item = await this.#itemOf(row);
      if (item) items.push(item);
    }
    return { items, next: rows.at(-1)?.position ?? after, isLast: rows.length < PAGE };
  }

  async #start(): Promise<Stoppable> {
    let position = await this.#firstPosition();
    const pass = async (): Promise<boolean> => {
      const { items, next, isLast } = await this.read(position);
      position = next;
      if (items.length > 0) for (const hear of this.#listeners) hear(items);
      return !isLast;
    };
    const bell = new Bell(this.#engine.alarms);
    return repeat(this.#engine, { name: 'the feed', bell, everyMs: POLL_MS, pass });
  }

  async #firstPosition(): Promise<FeedPosition> {
    try {
      return await this.end();
    } catch (error) {
      // Whoever listens next tries again.
      this.#loop = null;
      throw error;
    }
  }

  async #stop(): Promise<void> {
    const loop = this.#loop;
    this.#loop = null;
    this.#jobs.clear();
    await (await loop)?.stop();
  }

  /** Null: its job was purged in between. */
  async #itemOf(row: LogRow & { position: FeedPosition }): Promise<FeedItem | null> {
    const { jobId, rev, position } = row;
    const changes = await this.#changesOf(row);
    const last = changes.at(-1)?.after;
    if (last === undefined) return null;
    if ((this.#jobs.get(jobId)?.rev ?? 0) < rev) {
      this.#jobs.delete(jobId);
      if (last.finishedAt === null) this.#jobs.set(jobId, last);
      if (this.#jobs.size > MOST_JOBS) this.#jobs.delete(this.#jobs.keys().next().value ?? '');
    }
    return { position, jobId, rev, tenantId: last.spec.tenantId, changes };
  }

  async #changesOf({ jobId, rev, body }: LogRow): Promise<readonly Change[]> {
    const before = rev === 1 ? null : this.#jobs.get(jobId);
    if (before === undefined || (before && before.rev !== rev - 1)) {
      const changes = changesOf(await readLog(this.#engine.store, jobId));
      return changes.filter((change) => change.rev === rev);
    }
    const decoded = decodeEvents(body);
    if (!decoded.ok) throw new InvariantViolation(`${decoded.code} at ${jobId}/${rev}: ${decoded.problem}`);
    return changesOf([{ jobId, rev, events: decoded.events }], before);
  }
}
