import { PawlError, type ErrorCode } from '../errors.js';
import type { Timestamp } from '../kernel/index.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/store.js';

/** What a store fails with that cannot be used at the moment, whatever is asked of it. */
const UNUSABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'STORE_UNAVAILABLE',
  'STORE_ACCESS_DENIED',
  'STORE_FULL',
  'STORE_READ_ONLY',
]);
/** These still answer when they are read: only a write shows that they are well again. */
const READABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['STORE_FULL', 'STORE_READ_ONLY']);
const WRITES: ReadonlySet<keyof Store> = new Set<keyof Store>([
  'commit',
  'beat',
  'putEffect',
  'putMessage',
  'putRecord',
]);
/** They also fail for reasons of the application's own transaction. */
const NOT_OURS: ReadonlySet<keyof Store> = new Set<keyof Store>(['commitWithin', 'begin']);

/** Outages that wait to be written down. A process that never does so keeps no more than these. */
const MOST_OUTAGES = 10;

export type Outage = { readonly from: Timestamp; readonly until: Timestamp; readonly code: ErrorCode };

/** Whether the store can be used, as this process sees it by what it is answered. */
export class StoreHealth {
  readonly #log: Logger;
  readonly #now: () => Timestamp;
  readonly #outages: Outage[] = [];
  #down: { readonly since: Timestamp; readonly code: ErrorCode } | null = null;
  #upSince: Timestamp;

  constructor({ log, now }: { log: Logger; now: () => Timestamp }) {
    this.#log = log;
    this.#now = now;
    this.#upSince = now();
  }

  /** Whether it answers at the moment, and since when that is so. */
  get current(): { readonly answers: boolean; readonly since: Timestamp } {
    return this.#down === null
      ? { answers: true, since: this.#upSince }
      : { answers: false, since: this.#down.since };
  }

  /** The oldest outage that is over and was not yet written down. */
  get firstOutage(): Outage | null {
    return this.#outages[0] ?? null;
  }

  forget(outage: Outage): void {
    const at = this.#outages.indexOf(outage);
    if (at >= 0) this.#outages.splice(at, 1);
  }

  answered(method: keyof Store): void {
    if (this.#down === null || (READABLE.has(this.#down.code) && !WRITES.has(method))) return;
    const { since: from, code } = this.#down;
    this.#down = null;
    this.#upSince = this.#now();
    this.#outages.push({ from, until: this.#upSince, code });
    if (this.#outages.length > MOST_OUTAGES) this.#outages.shift();
    this.#log.warn('the store can be used again', { code, downMs: this.#upSince - from });
  }

  failed(method: keyof Store, error: unknown): void {
    if (this.#down !== null || NOT_OURS.has(method)) return;
    if (!(error instanceof PawlError) || !UNUSABLE.has(error.code)) return;
    this.#down = { since: this.#now(), code: error.code };
    this.#log.error('the store cannot be used', { error });
  }
}
