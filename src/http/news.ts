/** Who is this many commits behind what happens had better come again: they are read off the store then, and fill no memory. */
export const MOST_BEHIND = 10_000;

/** What has arrived and was not taken yet. One takes; any number may bring. */
export class News<T> {
  #waiting: T[] = [];
  #wake: (() => void) | null = null;

  /** Answers how many wait by now. */
  readonly bring = (items: readonly T[]): number => {
    for (const item of items) this.#waiting.push(item);
    if (this.#waiting.length > 0) this.#wake?.();
    return this.#waiting.length;
  };

  /** All that has arrived, once there is something; nothing if the reader leaves first. */
  async take(gone: AbortSignal): Promise<T[]> {
    if (this.#waiting.length === 0 && !gone.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = () => {
          gone.removeEventListener('abort', wake);
          this.#wake = null;
          resolve();
        };
        const wake = this.#wake;
        gone.addEventListener('abort', wake);
      });
    }
    return gone.aborted ? [] : this.#waiting.splice(0);
  }
}
