/** What has arrived and was not taken yet. One takes; any number may bring. */
export class News<T> {
  #waiting: T[] = [];
  #wake: (() => void) | null = null;

  readonly bring = (items: readonly T[]): void => {
    for (const item of items) this.#waiting.push(item);
    if (this.#waiting.length > 0) this.#wake?.();
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
