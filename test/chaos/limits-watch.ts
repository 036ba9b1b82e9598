import { PawlError } from '../../src/errors.js';
import type { Store } from '../../src/ports/store.js';
import { KEY_LIMIT } from './limits.js';
import { pause } from './load.js';

const LOOK_MS = 200;

/** Looks while everything runs: one query sees one moment, and in none may more jobs of a key run than its limit. */
export class LimitsWatch {
  readonly problems: string[] = [];
  looks = 0;
  /** Moments in which a key was used to the full. */
  full = 0;
  readonly #store: Store;
  #isOver = false;

  constructor(store: Store) {
    this.#store = store;
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#look();
      } catch (error) {
        // The database is away for a moment.
        if (!(error instanceof PawlError && error.retryable)) throw error;
      }
      await pause(LOOK_MS);
    }
  }

  stop(): void {
    this.#isOver = true;
  }

  async #look(): Promise<void> {
    const { rows } = await this.#store.list({
      tenantId: null,
      statuses: ['running'],
      task: 'keyed',
      limit: 200,
      cursor: null,
    });
    this.looks += 1;
    const running = new Map<string, string[]>();
    for (const { gate, jobId } of rows) running.set(gate, [...(running.get(gate) ?? []), jobId]);
    for (const jobIds of running.values()) {
      if (jobIds.length === KEY_LIMIT) this.full += 1;
      if (jobIds.length > KEY_LIMIT)
        this.problems.push(`${jobIds.length} jobs of one key run at once: ${jobIds.join()}`);
    }
  }
}
