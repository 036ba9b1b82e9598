/** How often each fault, feature, event and so on was met. What is never met is not tested (invariant 28). */
export class Hits {
  readonly #counts = new Map<HitKind, Map<string, number>>(HIT_KINDS.map((kind) => [kind, new Map()]));

  add(kind: HitKind, name: string, count = 1): void {
    const own = this.#counts.get(kind);
    own?.set(name, (own.get(name) ?? 0) + count);
  }

  take(other: Readonly<Record<string, number>>): void {
    for (const [key, count] of Object.entries(other)) {
      const space = key.indexOf(' ');
      this.add(key.slice(0, space) as HitKind, key.slice(space + 1), count);
    }
  }

  /** By kind and name, in order. */
  get all(): Readonly<Record<string, number>> {
    const all = [...this.#counts].flatMap(([kind, own]) =>
      [...own].map(([name, count]): [string, number] => [`${kind} ${name}`, count]),
    );
    return Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

export const HIT_KINDS = ['fault', 'feature', 'event', 'command', 'call', 'ending'] as const;
export type HitKind = (typeof HIT_KINDS)[number];
