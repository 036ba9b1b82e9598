import type { RunCallback } from '../contracts/index.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Notifier } from '../ports/notifier.js';
import { answerWithin } from './answer-within.js';

/** How long a change waits for the notifier's answer, and for the next try after a failure. */
const ANSWER_MS = 30_000;
const TRY_AGAIN_MS = [1_000, 5_000] as const;

/** A notifier that is this far behind would take all memory in the end: the oldest changes are let go, and logged. */
const MOST_WAITING = 10_000;

/** Tells a notifier of changes, one after the other and beside the run. What cannot be told is logged and let go. */
export class NotifierQueue {
  readonly #notifier: Notifier;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: RunCallback[] = [];
  #telling: Promise<void> | null = null;

  constructor(notifier: Notifier, { clock, log }: { clock: Clock; log: Logger }) {
    this.#notifier = notifier;
    this.#clock = clock;
    this.#log = log;
  }

  push(change: RunCallback): void {
    const { detail = 'run' } = this.#notifier;
    if (change.host !== null ? detail !== 'host' : change.step !== null && detail === 'run') return;
    if (this.#waiting.length === MOST_WAITING) this.#letGo(this.#waiting.shift(), 'it is too far behind');
    this.#waiting.push(change);
    this.#telling ??= this.#tellAll();
  }

  /** Once everything was told, or given up. */
  async drained(): Promise<void> {
    while (this.#telling !== null) await this.#telling;
  }

  async #tellAll(): Promise<void> {
    // The change that began this is told after whoever made it has gone on.
    await Promise.resolve();
    for (let change = this.#waiting.shift(); change; change = this.#waiting.shift()) await this.#tell(change);
    this.#telling = null;
  }

  async #tell(change: RunCallback): Promise<void> {
    for (const delayMs of [...TRY_AGAIN_MS, null]) {
      try {
        await answerWithin(this.#clock, { ms: ANSWER_MS, what: 'the notifier' }, () =>
          this.#notifier.notify(change),
        );
        return;
      } catch (error) {
        if (delayMs === null) this.#letGo(change, error);
        else await new Promise<void>((resolve) => void this.#clock.after(delayMs, resolve));
      }
    }
  }

  #letGo(change: RunCallback | undefined, error: unknown): void {
    if (change === undefined) return;
    const { run_id: runId, status, step, host, version } = change;
    this.#log.error('a notifier could not be told of a change', {
      runId,
      status,
      step,
      host,
      version,
      error,
    });
  }
}
