// oxlint-disable-next-line no-restricted-imports -- measures the event loop itself; nothing is decided by it
import { monitorEventLoopDelay } from 'node:perf_hooks';

const NS_PER_SECOND = 1e9;

/** How late timers of this process are, in seconds. */
export class LoopLag {
  readonly #histogram = monitorEventLoopDelay();

  start(): void {
    this.#histogram.enable();
  }

  stop(): void {
    this.#histogram.disable();
  }

  /** The percentiles since they were last taken. */
  take(percentiles: readonly number[]): number[] {
    const values = percentiles.map((percentile) => this.#histogram.percentile(percentile) / NS_PER_SECOND);
    this.#histogram.reset();
    return values;
  }
}
