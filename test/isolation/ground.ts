import type { Act } from './act.js';

/** What a pair of operations came to: both replies, and all that can be seen afterwards. */
export type Outcome = Readonly<Record<string, unknown>>;

/** Two operations as one run carries them out, and what the job went through before. */
export type Pair = { readonly build: readonly Act[]; readonly first: Act; readonly second: Act };

/** A race that was run: how, and what it came to. */
export type Race = { readonly title: string; readonly outcome: Outcome };

/** A store on which pairs are run, each of them on data of its own. */
export interface Ground {
  /** One after the other. Also tells how many transactions the first of them was. */
  serial(pair: Pair): Promise<{ readonly outcome: Outcome; readonly ends: number }>;
  /**
   * The first is stopped before COMMIT; the second runs until it has ended or waits; then the first goes on. That in
   * every way that makes a difference to the store; `ends` is the number of transactions that the first one is.
   */
  races(pair: Pair, ends: number): Promise<Race[]>;
  close(): Promise<void>;
}

/** Far more than anything here takes. */
const GIVE_UP_AFTER_MS = 15_000;

/** Looks again and again until it is so. */
export async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const giveUpAt = Date.now() + GIVE_UP_AFTER_MS;
  while (!(await isSo())) if (Date.now() > giveUpAt) throw new Error(`waited in vain until ${what}`);
}
