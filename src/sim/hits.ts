/** How often each fault, feature, event and so on was met. What is never met is not tested (invariant 28). */
export class Hits {
  readonly #counts = new Map<string, number>();

  add(kind: HitKind, name: string, count = 1): void {
    const key = `${kind} ${name}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  get(kind: HitKind, name: string): number {
    return this.#counts.get(`${kind} ${name}`) ?? 0;
  }

  take(other: Readonly<Record<string, number>>): void {
    for (const [key, count] of Object.entries(other)) {
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
    }
  }

  /** By kind and name, in order. */
  get all(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

export const HIT_KINDS = ['fault', 'feature', 'event', 'command', 'call', 'ending'] as const;
export type HitKind = (typeof HIT_KINDS)[number];
