import type { Engine } from '../engine/engine.js';
import { repeat, type Stoppable } from '../engine/repeat.js';
import { Bell } from '../engine/bell.js';
import type { FeedPosition } from '../ports/store.js';
import { FeedReader, type FeedItem } from './feed-reader.js';

type Listener = (items: readonly FeedItem[]) => void;

const POLL_MS = 100;
/** Jobs that are remembered: for all who listen, and for one who catches up, of whom there may be many. */
const MOST_JOBS = 5_000;
const MOST_JOBS_OF_ONE = 500;

/**
 * Reads the store's feed once for all who listen in this process. While nobody listens, nothing is read. It begins where
 * the feed ends when the first listener comes; whoever wants what came before reads that on its own.
 */
export class FeedHub {
  readonly #engine: Engine;
  readonly #listeners = new Set<Listener>();
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

  /** For one who has to catch up. */
  reader(): FeedReader {
    return new FeedReader(this.#engine, { mostJobs: MOST_JOBS_OF_ONE });
  }

  async #start(): Promise<Stoppable> {
    let position = await this.#firstPosition();
    const reader = new FeedReader(this.#engine, { mostJobs: MOST_JOBS });
    const pass = async (): Promise<boolean> => {
      const { items, next, isLast } = await reader.read(position);
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
    await (await loop)?.stop();
  }
}
