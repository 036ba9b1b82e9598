import type { Timestamp } from '../kernel/index.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import type { StoreHealth } from './store-health.js';

/** What is set back by less is a correction, during which time stands still here; by more, it was wrong, and is followed. */
const SET_BACK_MS = 1_000;

/**
 * The store's clock, read off its replies. Between replies it is advanced by the local monotonic clock from the moment
 * a reply ARRIVED, so it is never ahead of the store: nothing decided on it comes early.
 */
export class StoreTime {
  readonly #clock: Clock;
  #offset: number | null = null;
  #latest = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly now = (): Timestamp => {
    // Before the first reply there is only the clock of this machine, which may be far ahead: it leaves no trace.
    if (this.#offset === null) return Math.floor(this.#clock.now());
    // Whole milliseconds, and never back: a clock that was corrected must not undo an order that someone saw.
    this.#latest = Math.max(this.#latest, Math.floor(this.#offset + this.#clock.elapsed()));
    return this.#latest;
  };

  /**
   * `before`: what this clock had shown at most when the store was asked. A store that answers with less has had its clock set
   * back: to go on from there would start jobs that are not due for as long as that.
   */
  hear(now: Timestamp, before: Timestamp = now): void {
    this.#offset = now - this.#clock.elapsed();
    if (now < before - SET_BACK_MS) this.#latest = now;
  }

  /** The same store; every reply sets this clock, and tells how the store is. */
  timed(store: Store, health: StoreHealth): Store {
    const known = new Map<keyof Store, unknown>();
    return new Proxy(store, {
      get: (target, name: keyof Store) => {
        let method = known.get(name);
        if (method === undefined) {
          method = PLAIN.has(name) ? target[name] : this.#listening(target, name, health);
          known.set(name, method);
        }
        return method;
      },
    });
  }

  #listening(store: Store, name: keyof Store, health: StoreHealth): unknown {
    const method = store[name] as (...asked: unknown[]) => Promise<{ now: Timestamp }>;
    const answered = (reply: { now: Timestamp }, before: Timestamp): unknown => {
      if (name !== 'begin') this.hear(reply.now, before);
      health.answered(name);
      return reply;
    };
    const failed = (error: unknown): never => {
      health.failed(name, error);
      throw error;
    };
    return (...asked: unknown[]) => {
      const before = this.#latest;
      return method(...asked).then((reply) => answered(reply, before), failed);
    };
  }
}

/** What has no reply to tell the time. */
const PLAIN: ReadonlySet<keyof Store> = new Set(['wake', 'listen', 'close']);
