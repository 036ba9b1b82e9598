/** Time, as the engine sees it: milliseconds since the Unix epoch on the store's clock. */
export interface Clock {
  now(): number;
  /** Runs `action` once `delayMs` have passed. The answer cancels it; cancelling twice, or too late, does nothing. */
  after(delayMs: number, action: () => void): () => void;
}
