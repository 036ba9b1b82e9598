import { isInMemory } from '../client/open-run-states.js';
import { runStates, type RunStates } from '../client/run-states.js';
import type { Engine } from '../engine/engine.js';
import type { RunStateStore } from '../ports/run-state-store.js';

/** The states of runs that are tracked. Opened when they are first asked for: most servers have none. */
export class RunStatesBeside {
  readonly #engine: Engine;
  readonly #store: string | RunStateStore | null;
  #opened: Promise<RunStates> | null = null;

  /** `store` null: nowhere that is known. */
  constructor(engine: Engine, store: string | RunStateStore | null) {
    this.#engine = engine;
    // What another keeps in memory is not visible here.
    this.#store = typeof store === 'string' && isInMemory(store) ? null : store;
  }

  /** Null: there are none to ask. A store that could not be opened is tried again by whoever asks next. */
  async open(): Promise<RunStates | null> {
    if (this.#store === null) return null;
    const { clock, log } = this.#engine;
    this.#opened ??= runStates({ store: this.#store, clock, log }).catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => null))?.close();
  }
}
