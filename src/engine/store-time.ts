import type { Timestamp } from '../kernel/index.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import { closedStore, type StoreCalls } from './store-calls.js';
import type { StoreHealth } from './store-health.js';

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

  hear(now: Timestamp): void {
    // A reply that was long on its way tells a time that is over. Whatever the store has said before has been, and stands in its logs.
    this.#latest = Math.max(this.#latest, now);
    this.#offset = now - this.#clock.elapsed();
  }

  /** The same store; every reply sets this clock, and tells how the store is. Once the calls are closed, it refuses all of them. */
  timed(store: Store, health: StoreHealth, calls: StoreCalls): Store {
    const known = new Map<keyof Store, unknown>();
    return new Proxy(store, {
      get: (target, name: keyof Store) => {
        let method = known.get(name);
        if (method === undefined) {
          method = PLAIN.has(name) ? target[name] : this.#listening(target, name, { health, calls });
          known.set(name, method);
        }
        return method;
      },
    });
  }

  #listening(
    store: Store,
    name: keyof Store,
    { health, calls }: { health: StoreHealth; calls: StoreCalls },
  ): unknown {
    const method = store[name] as (...asked: unknown[]) => Promise<{ now: Timestamp }>;
    const answered = (reply: { now: Timestamp }): unknown => {
      calls.ended();
      if (name === 'begin') health.answered(name);
      else {
        this.hear(reply.now);
        health.answered(name, reply.now);
      }
      return reply;
    };
    const failed = (error: unknown, sentAt: number): never => {
      calls.ended();
      if (calls.isClosed) throw closedStore(error);
      health.failed(name, error, this.#clock.elapsed() - sentAt);
      throw error;
    };
    return (...asked: unknown[]) => {
      if (calls.isClosed) return Promise.reject(closedStore());
      const sentAt = this.#clock.elapsed();
      const asking = method(...asked);
      calls.began();
      return asking.then(answered, (error: unknown) => failed(error, sentAt));
    };
  }
}

/** What has no reply to tell the time. */
const PLAIN: ReadonlySet<keyof Store> = new Set(['wake', 'listen', 'close']);
