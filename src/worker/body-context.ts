/** What the body of a step gets. */
export type BodyContext = {
  /** Fires when the step times out, or the attempt is over. */
  readonly signal: AbortSignal;
};
