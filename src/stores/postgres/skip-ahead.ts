/** Where a job stands in its stretch of the claim index. */
export type Place = { readonly urgency: number; readonly dueAt: number; readonly jobId: string };

/** Before every job. */
const BEGINNING: Place = { urgency: -(2 ** 31), dueAt: -1, jobId: '' };

/** A search for the first job that took longer has stepped over thousands of dead entries. A shorter one is not worth missing anything for. */
const SLOW_MS = 3;
/** How long to skip, as a multiple of what the slow claim took: those from the beginning then cost a tenth of the time. */
const REST = 10;
const SHORTEST_REST_MS = 300;

/**
 * Remembers where in the claim index the living entries begin.
 *
 * While some transaction stays open, Postgres keeps the entries of all jobs that were claimed meanwhile, and every claim
 * steps over them. Once that is slow, claims begin where the last one found its first jobs, and only now and then at the
 * beginning. Meanwhile a job of a higher priority, one that was due earlier, or another tenant may wait for up to ten
 * slow claims.
 */
export class SkipAhead {
  #until = 0;
  readonly #places = new Map<string, Place>();
  readonly #tenants = new Map<string, readonly string[]>();

  /** Claims are fast, as far as anyone knows, and look at all of it. */
  get isIdle(): boolean {
    return this.#places.size === 0;
  }

  /** Where to begin in a stretch. */
  from(stretch: string, now: number): Place {
    return (now < this.#until && this.#places.get(stretch)) || BEGINNING;
  }

  /** The tenants that a claim found when it asked the same; undefined: look again. */
  tenants(question: string, now: number): readonly string[] | undefined {
    return now < this.#until ? this.#tenants.get(question) : undefined;
  }

  /** What was found before the last slow claim is forgotten. */
  foundTenants(question: string, tenants: readonly string[], now: number): void {
    if (now >= this.#until) this.#tenants.clear();
    this.#tenants.set(question, tenants);
  }

  /** The first job that a claim found in each stretch, and how long the server took to find one. */
  found(firsts: ReadonlyMap<string, Place>, { now, tookMs }: { now: number; tookMs: number }): void {
    if (now >= this.#until) {
      this.#places.clear();
      if (tookMs <= SLOW_MS) return this.#tenants.clear();
      this.#until = now + Math.max(SHORTEST_REST_MS, REST * tookMs);
    }
    for (const [stretch, place] of firsts) this.#places.set(stretch, place);
  }
}
