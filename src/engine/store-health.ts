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
/** These write where there is something to be written: they fail as those do, but that one is answered shows nothing. */
const MAY_WRITE: ReadonlySet<keyof Store> = new Set<keyof Store>([
  ...WRITES,
  'claim',
  'resign',
  'orphans',
  'takeOutbox',
  'settleOutbox',
  'putSchedule',
  'deleteSchedule',
  'deleteRecord',
  'putDlqItem',
  'hold',
  'release',
  'pauseQueue',
  'purge',
]);
/**
 * For so long an outage that only writes have met lasts without another of them. Then whoever is answered a read ends it, for nobody
 * here may ever write again. Shorter than the pause of a loop that fails, and it would end while it lasts.
 */
const UNTRIED_MS = 60_000;
/** They also fail for reasons of the application's own transaction. */
const NOT_OURS: ReadonlySet<keyof Store> = new Set<keyof Store>(['commitWithin', 'begin']);

/** Outages that wait to be written down. A process that never does so keeps no more than these. */
const MOST_OUTAGES = 10;

export type Outage = { readonly from: Timestamp; readonly until: Timestamp; readonly code: ErrorCode };

type Down = {
  readonly since: Timestamp;
  readonly code: ErrorCode;
  /** Only calls that write have failed: reads go on, and show nothing. */
  byWrite: boolean;
  failedAt: Timestamp;
};

/** Whether the store can be used, as this process sees it by what it is answered. */
export class StoreHealth {
  readonly #log: Logger;
  readonly #now: () => Timestamp;
  readonly #outages: Outage[] = [];
  #down: Down | null = null;
  #upSince: Timestamp;
  #answeredAt: Timestamp = 0;
  #wroteAt: Timestamp = 0;

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

  /** `now`: the store's time, as its reply says. */
  answered(method: keyof Store, now: Timestamp = this.#answeredAt): void {
    this.#answeredAt = now;
    if (WRITES.has(method)) this.#wroteAt = now;
    if (this.#down === null || (!WRITES.has(method) && this.#needsWrite(this.#down))) return;
    const { since: from, code } = this.#down;
    this.#down = null;
    this.#upSince = this.#now();
    this.#outages.push({ from, until: this.#upSince, code });
    if (this.#outages.length > MOST_OUTAGES) this.#outages.shift();
    this.#log.warn('the store can be used again', { code, downMs: this.#upSince - from });
  }

  /** `sentMsAgo`: when the call was sent. A store may have been silent for long before that became an error. */
  failed(method: keyof Store, error: unknown, sentMsAgo = 0): void {
    if (NOT_OURS.has(method) || !(error instanceof PawlError) || !UNUSABLE.has(error.code)) return;
    const failedAt = this.#now();
    const byWrite = MAY_WRITE.has(method);
    if (this.#down !== null) {
      this.#down.failedAt = failedAt;
      this.#down.byWrite &&= byWrite;
      return;
    }
    // What it has answered since then it was well for.
    const sentAt = failedAt - Math.max(0, Math.floor(sentMsAgo));
    const since = Math.min(failedAt, Math.max(sentAt, this.#answeredAt, this.#upSince));
    this.#down = { since, code: error.code, byWrite, failedAt };
    this.#log.error('the store cannot be used', { error });
  }

  /** What is answered at once by a store that is well was not for so long, and nothing was written meanwhile. */
  silent(method: keyof Store, ms: number): void {
    if (this.#wroteAt > this.#now() - ms) return;
    const detail = `'${method}' was not answered within ${Math.round(ms / 1_000)} s: look at the store and at the way to it`;
    this.failed(method, new PawlError('STORE_UNAVAILABLE', { detail }), ms);
  }

  #needsWrite({ code, byWrite, failedAt }: Down): boolean {
    return READABLE.has(code) || (byWrite && this.#now() - failedAt < UNTRIED_MS);
  }
}
