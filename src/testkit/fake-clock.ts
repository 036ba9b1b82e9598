import type { Clock } from '../ports/clock.js';

/** A clock that stands still until it is told to move. */
export interface FakeClock extends Clock {
  /** Moves on by `ms`, running what falls due on the way, each at its own time and in order. */
  advance(ms: number): void;
  /** Actions that are still to run. A test that ends with some has leaked a timer. */
  readonly pending: number;
  /** When the next of them is due; null if there is none. */
  readonly nextAt: number | null;
  /**
   * Does something that takes time of the real world, such as a call to a server or to a disk. `advanceUntil` does not move
   * the clock meanwhile.
   */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** How much of that is under way. */
  readonly busy: number;
  /** Until none of it is. */
  idle(): Promise<void>;
}

type Timer = { readonly at: number; readonly order: number; readonly action: () => void };

export function fakeClock(startAt: number): FakeClock {
  let now = startAt;
  let ordered = 0;
  let busy = 0;
  const onIdle: (() => void)[] = [];
  const timers = new Set<Timer>();

  const nextDue = (until: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.at > until) continue;
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  };

  return {
    now: () => now,
    elapsed: () => now - startAt,
    after(delayMs, action) {
      const timer: Timer = { at: now + Math.max(0, delayMs), order: ordered++, action };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    advance(ms) {
      const until = now + ms;
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        timers.delete(timer);
        now = timer.at;
        timer.action();
      }
      now = until;
    },
    async during(work) {
      busy += 1;
      try {
        return await work();
      } finally {
        busy -= 1;
        if (busy === 0) for (const told of onIdle.splice(0)) told();
      }
    },
    idle: () => (busy === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
    get busy() {
      return busy;
    },
    get pending() {
      return timers.size;
    },
    get nextAt() {
      return nextDue(Number.POSITIVE_INFINITY)?.at ?? null;
    },
  };
}
