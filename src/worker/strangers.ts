type Held = { readonly jobId: string; readonly attemptId: string };

/** Jobs that are held here according to the store, and not known: a claim whose reply was lost, if they stay. */
export class Strangers {
  #since = new Map<string, number>();

  /** Those of them that have been unknown for so long at each look. Who is not among them now has gone. */
  staying<T extends Held>(unknown: readonly T[], { now, ms }: { now: number; ms: number }): T[] {
    const before = this.#since;
    this.#since = new Map(unknown.map(({ attemptId }) => [attemptId, before.get(attemptId) ?? now]));
    return unknown.filter(({ attemptId }) => now - (this.#since.get(attemptId) ?? now) >= ms);
  }
}
