import { rateRoom, useRate, type RateLimit, type RateUse, type Timestamp } from '../kernel/index.js';
import type { ClaimLane } from '../ports/store.js';

/** Where the use of a rate is kept: with a tenant, or with '' if all of them share it. */
export type RateRef = { readonly tenantId: string; readonly name: string };

/** The rates that all tenants share, by name. Empty where no lane has one, which then costs nothing. */
export function sharedRates(lanes: readonly ClaimLane[]): RateRef[] {
  return namesOf(lanes.filter(({ ratePerTenant }) => !ratePerTenant)).map((name) => ({ tenantId: '', name }));
}

/** The rates that each of these tenants has for itself. */
export function ratesOfTenants(lanes: readonly ClaimLane[], tenants: readonly string[]): RateRef[] {
  const names = namesOf(lanes.filter(({ ratePerTenant }) => ratePerTenant));
  return tenants.flatMap((tenantId) => names.map((name) => ({ tenantId, name })));
}

function namesOf(lanes: readonly ClaimLane[]): string[] {
  return [...new Set(lanes.flatMap(({ rate }) => (rate ? [rate.name] : [])))].toSorted();
}

type Counted = {
  readonly ref: RateRef;
  readonly limit: RateLimit;
  readonly use: RateUse;
  room: number;
  taken: number;
};

/** What one claim may take under the rates of its lanes, and what it took. */
export class Rates {
  readonly #now: Timestamp;
  /** What was stored of a rate's use; null if it is somebody else's just now. */
  readonly #stored: (ref: RateRef) => string | null;
  readonly #byLane: ReadonlyMap<string, ClaimLane & { readonly rate: RateLimit }>;
  readonly #counted = new Map<string, Counted>();
  #freeAt: Timestamp | null = null;

  constructor(lanes: readonly ClaimLane[], stored: (ref: RateRef) => string | null, now: Timestamp) {
    this.#now = now;
    this.#stored = stored;
    const rated = lanes.flatMap((lane) => (lane.rate ? [{ ...lane, rate: lane.rate }] : []));
    this.#byLane = new Map(rated.map((lane) => [lane.lane, lane]));
  }

  /** Lanes whose rate has room, as far as all tenants share it: the others' jobs are not even looked at. */
  open(lanes: readonly ClaimLane[]): readonly ClaimLane[] {
    return lanes.filter(({ lane, ratePerTenant }) => ratePerTenant || this.room(lane, '') > 0);
  }

  /** How many jobs of a lane this tenant may have; any number where there is no rate. */
  room(lane: string, tenantId: string): number {
    const counted = this.#of(lane, tenantId);
    return counted === null ? Number.POSITIVE_INFINITY : counted.room - counted.taken;
  }

  /** Takes one job of a lane; false if its rate has no room left. */
  take(lane: string, tenantId: string): boolean {
    const counted = this.#of(lane, tenantId);
    if (counted === null) return true;
    if (counted.taken >= counted.room) return false;
    counted.taken += 1;
    return true;
  }

  /** A job that was taken does not start after all. */
  giveBack(lane: string, tenantId: string): void {
    const counted = this.#of(lane, tenantId);
    if (counted !== null) counted.taken -= 1;
  }

  /** What is to be kept of this claim. */
  used(): (RateRef & { readonly body: string })[] {
    return [...this.#counted.values()].flatMap(({ ref, limit, use, taken }) =>
      taken === 0
        ? []
        : [{ ...ref, body: JSON.stringify(useRate(limit, use, { now: this.#now, starts: taken })) }],
    );
  }

  /** For the reply: when to ask again. */
  get freeAt(): { readonly rateFreeAt?: Timestamp } {
    return this.#freeAt === null ? {} : { rateFreeAt: this.#freeAt };
  }

  #of(lane: string, tenantId: string): Counted | null {
    const rated = this.#byLane.get(lane);
    if (rated === undefined) return null;
    const ref = { tenantId: rated.ratePerTenant ? tenantId : '', name: rated.rate.name };
    const key = `${ref.tenantId}\u0000${ref.name}`;
    const counted = this.#counted.get(key) ?? this.#count(ref, rated.rate);
    this.#counted.set(key, counted);
    return counted;
  }

  #count(ref: RateRef, limit: RateLimit): Counted {
    const stored = this.#stored(ref);
    if (stored === null) return { ref, limit, use: [], room: 0, taken: 0 };
    const { room, freeAt, use } = rateRoom(limit, JSON.parse(stored) as RateUse, this.#now);
    if (freeAt !== null) this.#freeAt = Math.min(this.#freeAt ?? freeAt, freeAt);
    return { ref, limit, use, room, taken: 0 };
  }
}
