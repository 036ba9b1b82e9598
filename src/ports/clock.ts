/** Time, as the engine sees it: milliseconds since the Unix epoch on the store's clock. */
export interface Clock {
  now(): number;
  /** Milliseconds that only ever move forward, from any start: for how long something took. */
  elapsed(): number;
  /** Runs `action` once `delayMs` have passed. The answer cancels it; cancelling twice, or too late, does nothing. */
  after(delayMs: number, action: () => void): () => void;
}

/** What of a clock a store needs. */
export type StoreClock = Pick<Clock, 'now' | 'after'>;
