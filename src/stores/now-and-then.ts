import type { Clock } from '../ports/clock.js';

export type NowAndThen = {
  /** At once, unless it has just been done: then once more a little later, however often it was asked for meanwhile. */
  readonly soon: () => void;
  /** True: it may be done now, by whoever asks, and counts as done. False: it has just been. */
  readonly take: () => boolean;
  /** Now, if it is still to be done. */
  readonly flush: () => void;
};

/** Does something when it is asked for, at most every `apartMs`. */
export function nowAndThen(clock: Pick<Clock, 'after'>, apartMs: number, run: () => void): NowAndThen {
  let isResting = false;
  let isWanted = false;
  const flush = (): void => {
    if (!isWanted) return;
    isWanted = false;
    run();
  };
  const take = (): boolean => {
    if (isResting) return false;
    isResting = true;
    clock.after(apartMs, rest);
    return true;
  };
  const rest = (): void => {
    isResting = false;
    if (isWanted && take()) flush();
  };
  return {
    soon() {
      isWanted = true;
      if (take()) flush();
    },
    take,
    flush,
  };
}
