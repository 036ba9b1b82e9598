import type { Clock } from '../ports/clock.js';

/** The most that one timer takes, 24.8 days: given more, it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** This machine's clock: the store's time where the store is a file of this machine, and the source of timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, run) {
    const wait = (leftMs: number): NodeJS.Timeout =>
      leftMs > LONGEST_MS
        ? setTimeout(() => (timer = wait(leftMs - LONGEST_MS)), LONGEST_MS)
        : setTimeout(run, leftMs);
    let timer = wait(ms);
    return () => clearTimeout(timer);
  },
};
