import { popFrom, pushTo } from '../engine/earliest-heap.js';

type Waiting = { readonly at: number; readonly deliver: (value: never) => void; readonly value: unknown };

/**
 * Hands out one thing in each turn of the event loop, the earliest place first. Whoever gets one has come to all that
 * follows from it before the next is handed out, however many promises lie in between.
 */
export class Turns {
  /** A heap, the earliest on top: of parallel steps ten thousands may wait. */
  readonly #waiting: Waiting[] = [];
  readonly #unplaced: (() => void)[] = [];
  readonly #mayPass: (at: number) => boolean;
  #isTaken = false;
  /** Called when all that waited has been handed out. */
  onIdle: (() => void) | null = null;

  /** `mayPass`: whether it may be this place's turn. If not, nothing is handed out until the next turn that somebody takes. */
  constructor(mayPass: (at: number) => boolean) {
    this.#mayPass = mayPass;
  }

  get isBusy(): boolean {
    return this.#waiting.length > 0 || this.#unplaced.length > 0;
  }

  /** Nothing waits, and nothing was handed out in this turn. */
  get isFree(): boolean {
    return !this.#isTaken && !this.isBusy;
  }

  /** Nothing more is handed out before the next turn. */
  take(): void {
    if (this.#isTaken) return;
    this.#isTaken = true;
    setImmediate(() => this.#begin());
  }

  /** Calls `deliver` with `value` once it is the turn of this place. */
  wait<T>(at: number, deliver: (value: T) => void, value: T): void {
    pushTo(this.#waiting, { at, deliver, value });
    this.take();
  }

  /** The same for what has no place: behind all that may pass, and ahead of what may not. */
  waitUnplaced(deliver: () => void): void {
    this.#unplaced.push(deliver);
    this.take();
  }

  #begin(): void {
    this.#isTaken = false;
    const deliver = this.#next();
    if (deliver === undefined) return;
    this.take();
    deliver();
    if (!this.isBusy) this.onIdle?.();
  }

  #next(): (() => void) | undefined {
    const [first] = this.#waiting;
    if (first === undefined || !this.#mayPass(first.at)) return this.#unplaced.shift();
    popFrom(this.#waiting);
    return () => first.deliver(first.value as never);
  }
}
