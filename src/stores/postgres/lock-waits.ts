import { PawlError } from '../../errors.js';
import { sqlStateOf } from './server-error.js';
import type { Queries, Session } from './session.js';

/** How long a start waits for another transaction that has taken the same key and not ended. */
export const LOCK_TIMEOUT_MS = 5_000;
/** Of the connections for careful work, so many may be with those who wait long. The others stay with those who need not. */
const MOST_WAITING = 2;
const LOCK_NOT_AVAILABLE = '55P03';
/** What the server says instead if it gets the lock in the very moment in which the time is up. */
const CANCELLED = '57014';

/** Applications hold keys for as long as they like, and many who want one may come at once: each holds up for so long whoever comes behind it. */
export const FIRST_FOR_A_KEY_MS = 10;
/** A job's row is locked by commits of our own, for a moment. Not to wait for that would mean to wait in line with those who want keys. */
export const FIRST_FOR_A_ROW_MS = 50;

export type Wanted = {
  /** What somebody may have to wait for, in words. */
  readonly what: string;
  /** The names of the jobs and keys. */
  readonly names: readonly string[];
  /** How long it is waited for at first, while others may want the connection. */
  readonly firstMs: number;
};

type InLine = {
  readonly what: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Those who wait for what other transactions hold. Two of them have a connection for that, the others are in line. If one has waited
 * in vain nobody in line waits on: it would take as long for each of them.
 */
export class LockWaits {
  /** Shorter where a connection that is silent for so long would be taken for a dead one. */
  readonly longestMs: number;
  readonly #waiting = new Map<string, Promise<unknown>>();
  readonly #line: InLine[] = [];
  #connected = 0;

  constructor({ silenceMs }: { silenceMs: number }) {
    this.longestMs = Math.min(LOCK_TIMEOUT_MS, Math.ceil(silenceMs / 2));
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  /** How it ends for whoever waits for one of these. */
  ahead(names: readonly string[]): Promise<unknown> | null {
    for (const name of names) {
      const waiting = this.#waiting.get(name);
      if (waiting !== undefined) return waiting;
    }
    return null;
  }

  async begin<T>({ what, names }: Omit<Wanted, 'firstMs'>, work: () => Promise<T>): Promise<T> {
    const waiting = this.#inTurn(what, work);
    for (const name of names) this.#waiting.set(name, waiting);
    try {
      return await waiting;
    } finally {
      for (const name of names) this.#waiting.delete(name);
    }
  }

  async #inTurn<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (this.#connected < MOST_WAITING) this.#connected += 1;
    else await new Promise<void>((resolve, reject) => this.#line.push({ what, resolve, reject }));
    try {
      return await work();
    } catch (error) {
      if (!isLocked(error)) throw error;
      for (const one of this.#line.splice(0)) one.reject(tooMany(one.what));
      throw busy(error, what);
    } finally {
      const next = this.#line.shift();
      if (next) next.resolve();
      else this.#connected -= 1;
    }
  }
}

/** There is somebody ahead, since one asked for a connection. */
class Behind extends Error {}

/**
 * A transaction that may wait for another which holds what it wants, but not for ever, and that keeps no connection from those
 * who need not wait. Whoever wants the same as one that waits already tries when that one knows.
 */
export async function patiently<T>(
  session: Pick<Session, 'careful' | 'waits'>,
  wanted: Wanted,
  work: (db: Queries) => Promise<T>,
): Promise<T> {
  const { waits } = session;
  const isFirst = (): boolean => waits.ahead(wanted.names) === null;
  const attempt = (timeoutMs: number, mayBegin: () => boolean): Promise<T> =>
    session.careful(async (db) => {
      if (!mayBegin()) throw new Behind();
      await db.rows(`SELECT set_config('lock_timeout', '${timeoutMs}ms', true)`);
      return work(db);
    });
  for (;;) {
    await waits.ahead(wanted.names)?.catch((error: unknown) => {
      if (isBusy(error)) throw tooMany(wanted.what);
    });
    try {
      return await attempt(wanted.firstMs, isFirst);
    } catch (error) {
      if (error instanceof Behind) continue;
      if (!isLocked(error)) throw error;
    }
    if (isFirst()) return waits.begin(wanted, () => attempt(waits.longestMs, () => true));
  }
}

/** Somebody was waited for in vain, on a connection of ours. */
export function isLocked(error: unknown): boolean {
  return isRefused(error) || sqlStateOf(error) === CANCELLED;
}

/** The same on a connection of the application's, which has limits of its own, and an operator who cancels statements. */
export const isRefused = (error: unknown): boolean => sqlStateOf(error) === LOCK_NOT_AVAILABLE;

/** That `what` was waited for in vain is no outage. */
export const busy = (error: unknown, what: string): PawlError =>
  new PawlError('STORE_BUSY', {
    detail: `another transaction holds ${what}, and was waited for in vain`,
    cause: error,
  });

const isBusy = (error: unknown): boolean => error instanceof PawlError && error.code === 'STORE_BUSY';

const tooMany = (what: string): PawlError =>
  new PawlError('STORE_BUSY', {
    detail: `another transaction holds ${what}, and somebody ahead has waited in vain`,
  });
