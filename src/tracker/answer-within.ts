import type { Clock } from '../ports/clock.js';

/** The answer of something that may never answer: an error, once it has taken too long. */
export function answerWithin<T>(
  clock: Pick<Clock, 'after'>,
  { ms, what }: { ms: number; what: string },
  ask: () => T | Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`${what} has not answered for ${ms} ms`)));
    const end =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        cancel();
        settle(value);
      };
    (async () => ask())().then(end(resolve), end(reject));
  });
}
