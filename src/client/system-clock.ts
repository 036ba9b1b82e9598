import type { Clock } from '../ports/clock.js';

/** This machine's clock: the store's time where the store is a file of this machine, and the source of timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
