import { rateRoom, useRate, type RateLimit, type RateUse, type Timestamp } from '../kernel/index.js';
import type { ClaimLane } from '../ports/store.js';

/** The rates of the lanes that are claimed from: their names. Empty where no lane has one, which then costs nothing. */
export function rateNames(lanes: readonly ClaimLane[]): string[] {
  return [...new Set(lanes.flatMap(({ rate }) => (rate ? [rate.name] : [])))].toSorted();
}

type Counted = { readonly limit: RateLimit; readonly use: RateUse; room: number; taken: number };

/** What one claim may take under the rates of its lanes, and what it took. */
export class Rates {
  readonly #now: Timestamp;
  readonly #byName = new Map<string, Counted>();
  readonly #byLane = new Map<string, Counted>();
  #freeAt: Timestamp | null = null;

  constructor(lanes: readonly ClaimLane[], stored: ReadonlyMap<string, string>, now: Timestamp) {
    this.#now = now;
    for (const { lane, rate } of lanes) {
      if (!rate) continue;
      const counted = this.#byName.get(rate.name) ?? this.#count(rate, stored.get(rate.name));
      this.#byName.set(rate.name, counted);
      this.#byLane.set(lane, counted);
    }
  }

  /** Lanes whose rate has room: the others' jobs are not even looked at. */
  open(lanes: readonly ClaimLane[]): readonly ClaimLane[] {
    return lanes.filter(({ lane }) => (this.#byLane.get(lane)?.room ?? 1) > 0);
  }

  /** Takes one job of a lane; false if its rate has no room left. */
  take(lane: string): boolean {
    const counted = this.#byLane.get(lane);
    if (counted === undefined) return true;
    if (counted.taken >= counted.room) return false;
    counted.taken += 1;
    return true;
  }

  /** What is to be kept of this claim. */
  used(): { readonly name: string; readonly body: string }[] {
    return [...this.#byName].flatMap(([name, { limit, use, taken }]) =>
      taken === 0
        ? []
        : [{ name, body: JSON.stringify(useRate(limit, use, { now: this.#now, starts: taken })) }],
    );
  }

  /** For the reply: when to ask again. */
  get freeAt(): { readonly rateFreeAt?: Timestamp } {
    return this.#freeAt === null ? {} : { rateFreeAt: this.#freeAt };
  }

  #count(limit: RateLimit, stored: string | undefined): Counted {
    const { room, freeAt, use } = rateRoom(limit, JSON.parse(stored ?? '[]') as RateUse, this.#now);
    if (freeAt !== null) this.#freeAt = Math.min(this.#freeAt ?? freeAt, freeAt);
    return { limit, use, room, taken: 0 };
  }
}
