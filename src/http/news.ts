/** What has arrived and was not taken yet. One takes; any number may bring. */
export class News<T> {
  #waiting: T[] = [];
  #wake: (() => void) | null = null;

  readonly bring = (items: readonly T[]): void => {
    this.#waiting.push(...items);
    if (this.#waiting.length > 0) this.#wake?.();
  };

  /** All that has arrived, once there is something; nothing if the reader leaves first. */
  async take(gone: AbortSignal): Promise<T[]> {
    if (this.#waiting.length === 0 && !gone.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        gone.addEventListener('abort', () => resolve(), { once: true });
      });
      this.#wake = null;
    }
    return gone.aborted ? [] : this.#waiting.splice(0);
  }
}
