import type { Alarms } from './alarms.js';

/** Times beyond this are left to the next poll: remembering them all would only fill memory. */
const HORIZON_MS = 60_000;
/** Rings are kept this far apart, so that many jobs due at one time cost one entry. */
const GRAIN_MS = 5;

/**
 * Wakes a loop before its next poll is due. A hint: a loop that never hears it finds its work all the same, later.
 * A ring that nobody sleeps through is kept for the next sleeper.
 */
export class Bell {
  readonly #alarms: Alarms;
  readonly #times = new Set<number>();
  #rung = false;
  #wake: (() => void) | null = null;

  constructor(alarms: Alarms) {
    this.#alarms = alarms;
  }

  readonly ring = (): void => {
    this.#rung = true;
    this.#wake?.();
  };

  /** Rings when the store's clock will show `at`. A time that is none is left to the next poll, too. */
  ringAt(at: number, now: number): void {
    if (!(at - now <= HORIZON_MS)) return;
    const time = Math.ceil(at / GRAIN_MS) * GRAIN_MS;
    if (this.#times.has(time)) return;
    this.#times.add(time);
    this.#alarms.set(time - now, () => {
      this.#times.delete(time);
      this.ring();
    });
  }

  /** Until the bell rings, or `mostMs` have passed. */
  async sleep(mostMs: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const cancel = this.#alarms.set(mostMs, resolve);
        this.#wake = () => {
          cancel();
          resolve();
        };
      });
    }
    this.#wake = null;
    this.#rung = false;
  }
}
