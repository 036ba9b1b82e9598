/** Of each lane and tenant a claim looks at so many concurrency keys, and no further: bounds the time it takes. */
export const MOST_GATES = 1_000;
/** Lanes and tenants that have more keys than that. Of more than these, those that were looked at longest ago begin at the first key again. */
const MOST_PLACES = 1_000;

type Part = { readonly lane: string; readonly tenant: string };

/**
 * Where the last claim stopped among the keys of a lane and tenant that has more of them with due jobs than one claim looks at. The
 * next goes on behind it, and around: a thousand keys that are full do not hide one that is not.
 */
export class GateTurns {
  readonly #last = new Map<string, Part & { readonly gate: string }>();

  /** Where claims do not begin at the first key. */
  get places(): readonly (Part & { readonly gate: string })[] {
    return [...this.#last.values()];
  }

  /** The key behind which a claim begins; '' for the first. */
  after(part: Part): string {
    return this.#last.get(nameOf(part))?.gate ?? '';
  }

  /** A claim has looked at so many keys, of `most` at most, and at this one last. */
  looked(part: Part, { gate, count, most }: { gate: string; count: number; most: number }): void {
    const name = nameOf(part);
    this.#last.delete(name);
    if (count >= most) this.#last.set(name, { lane: part.lane, tenant: part.tenant, gate });
    if (this.#last.size > MOST_PLACES) this.#last.delete(this.#last.keys().next().value ?? '');
  }
}

const nameOf = ({ lane, tenant }: Part): string => `${lane}\u0000${tenant}`;
