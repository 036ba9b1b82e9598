/**
 * Runs `read` once for all who ask at the same time. Whoever asks while one is under way gets the next: what was there when it asked must be
 * in its answer.
 */
export function readTogether<T>(read: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  const over = (): void => {
    current = null;
  };
  const ask = (): Promise<T> => {
    if (current !== null) {
      next ??= current.then(again, again);
      return next;
    }
    current = read();
    current.then(over, over);
    return current;
  };
  const again = (): Promise<T> => {
    next = null;
    return ask();
  };
  return ask;
}
