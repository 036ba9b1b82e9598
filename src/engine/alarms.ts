import { InvariantViolation } from '../kernel/index.js';
import type { Clock } from '../ports/clock.js';
import { popFrom, pushTo } from './earliest-heap.js';

type Alarm = {
  readonly at: number;
  action: () => void;
  readonly onStop: (() => void) | null;
  cancelled: boolean;
};

/** Timers of Node take no longer delay, and fire at once instead. An alarm that is further away is looked at then. */
const MOST_DELAY_MS = 2 ** 31 - 1;

const nothing = (): void => undefined;

/**
 * Many alarms on one timer of the clock. A worker sets a few for each job that it runs, and most are cancelled before
 * they ring: setting and cancelling must cost next to nothing.
 */
export class Alarms {
  readonly #clock: Clock;
  /** A binary heap, earliest first. Cancelled ones stay until their time, or until they are the majority. */
  #heap: Alarm[] = [];
  #cancelled = 0;
  #timer: { readonly at: number; readonly stop: () => void } | null = null;
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many have been set, and have neither rung nor been cancelled. */
  get pending(): number {
    return this.#heap.length - this.#cancelled;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /**
   * Runs `action` once `delayMs` have passed, or `onStop` if all alarms are stopped before that. The answer cancels it. A
   * delay that is no number throws, where it comes from: in the heap it would stand before all others, and never ring.
   */
  set(delayMs: number, action: () => void, onStop: (() => void) | null = null): () => void {
    const at = this.#clock.elapsed() + Math.max(0, delayMs);
    if (Number.isNaN(at)) throw new InvariantViolation('an alarm was set for no time');
    const alarm: Alarm = { at, action, onStop, cancelled: false };
    pushTo(this.#heap, alarm);
    this.#arm();
    return () => {
      if (alarm.cancelled) return;
      alarm.cancelled = true;
      // What it would have woken need not be kept until its time.
      alarm.action = nothing;
      this.#cancelled += 1;
      if (this.#cancelled > 64 && this.#cancelled * 2 > this.#heap.length) this.#sweep();
    };
  }

  /** None of them rings any more. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.stop();
    this.#timer = null;
    const stopped = this.#heap.filter(({ cancelled }) => !cancelled);
    this.#heap = [];
    this.#cancelled = 0;
    for (const alarm of stopped) alarm.cancelled = true;
    for (const { onStop } of stopped) onStop?.();
  }

  #arm(): void {
    const first = this.#heap[0];
    if (first === undefined || (this.#timer !== null && this.#timer.at <= first.at)) return;
    this.#timer?.stop();
    const delayMs = Math.min(first.at - this.#clock.elapsed(), MOST_DELAY_MS);
    const stop = this.#clock.after(delayMs, () => this.#ring());
    this.#timer = { at: first.at, stop };
  }

  #ring(): void {
    this.#timer = null;
    try {
      this.#ringAll(this.#clock.elapsed());
    } finally {
      // What one of them throws is a bug; the others, a heartbeat among them, ring all the same.
      this.#arm();
    }
  }

  #ringAll(now: number): void {
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      popFrom(this.#heap);
      if (first.cancelled) {
        this.#cancelled -= 1;
      } else {
        // Cancelling it from now on does nothing.
        first.cancelled = true;
        first.action();
      }
    }
  }

  #sweep(): void {
    const live = this.#heap.filter(({ cancelled }) => !cancelled);
    this.#heap = [];
    this.#cancelled = 0;
    for (const alarm of live) pushTo(this.#heap, alarm);
  }
}
