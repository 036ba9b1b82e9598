import { PawlError, type Clock } from '../index.js';

type Asked = {
  readonly clock: Clock;
  /** Fires when the job is no longer this handler's. */
  readonly signal: AbortSignal;
  /** Null: nobody has the job any more. */
  readonly claimedAt: () => Promise<number | null>;
};

/** How long a store that does not answer is left alone. */
const AGAIN_MS = 1_000;

/**
 * When the job was claimed for this run of its handler, by the store's clock. What was recorded before is of an earlier run, and
 * the time between the two has passed already, whatever this machine's clock says. Asked for once, when somebody needs it.
 */
export function whenClaimed(asked: Asked): () => Promise<number> {
  let claimed: Promise<number> | null = null;
  return () => (claimed ??= answered(asked));
}

/** Asks through an outage of the store, if need be: that is no failure of the step. */
async function answered({ clock, signal, claimedAt }: Asked): Promise<number> {
  for (;;) {
    try {
      const at = await claimedAt();
      if (at !== null) return at;
      throw new Error('the run is no longer carried out here');
    } catch (error) {
      if (!(error instanceof PawlError && error.retryable)) throw error;
    }
    await new Promise<void>((resolve) => void clock.after(AGAIN_MS, resolve));
    signal.throwIfAborted();
  }
}
