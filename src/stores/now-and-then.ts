import type { Clock } from '../ports/clock.js';

/** Does it at once, unless it has just been done: then once more, `apartMs` later, however often it was asked for meanwhile. */
export function nowAndThen(clock: Pick<Clock, 'after'>, apartMs: number, run: () => void): () => void {
  let isResting = false;
  let isWanted = false;
  const rest = (): void => {
    isResting = isWanted;
    if (!isWanted) return;
    isWanted = false;
    clock.after(apartMs, rest);
    run();
  };
  return () => {
    isWanted = true;
    if (!isResting) rest();
  };
}
