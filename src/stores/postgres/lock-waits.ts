import { PawlError } from '../../errors.js';
import { sqlStateOf } from './server-error.js';
import type { Queries, Session } from './session.js';

/** How long a start waits for another transaction that has taken the same key and not ended. */
export const LOCK_TIMEOUT_MS = 5_000;
/**
 * How long it waits at first, while others may want its connection. Most have nobody in their way; of those who have, many may
 * come at once, and each holds up for so long whoever comes behind it.
 */
const SHORT = '10ms';
/** Of the connections for careful work, so many may be with those who wait long. The others stay with those who need not. */
const MOST_WAITING = 2;
const LOCK_NOT_AVAILABLE = '55P03';
/** What the server says instead if it gets the lock in the very moment in which the time is up. */
const CANCELLED = '57014';

/** What somebody may have to wait for: in words, and the names of the jobs and keys. */
export type Wanted = { readonly what: string; readonly names: readonly string[] };

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

  async begin<T>({ what, names }: Wanted, work: () => Promise<T>): Promise<T> {
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
      if (isLocked(error)) for (const one of this.#line.splice(0)) one.reject(tooMany(one.what));
      throw busyOr(error, what, this.longestMs);
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
  const attempt = (timeout: string, mayBegin: () => boolean): Promise<T> =>
    session.careful(async (db) => {
      if (!mayBegin()) throw new Behind();
      await db.rows(`SELECT set_config('lock_timeout', '${timeout}', true)`);
      return work(db);
    });
  for (;;) {
    await waits.ahead(wanted.names)?.catch((error: unknown) => {
      if (isBusy(error)) throw tooMany(wanted.what);
    });
    try {
      return await attempt(SHORT, isFirst);
    } catch (error) {
      if (error instanceof Behind) continue;
      if (!isLocked(error)) throw error;
    }
    if (isFirst()) return waits.begin(wanted, () => attempt(`${waits.longestMs}ms`, () => true));
  }
}

/** Somebody was waited for in vain. */
export function isLocked(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === LOCK_NOT_AVAILABLE || state === CANCELLED;
}

const isBusy = (error: unknown): boolean => error instanceof PawlError && error.code === 'STORE_BUSY';

const tooMany = (what: string): PawlError =>
  new PawlError('STORE_BUSY', {
    detail: `another transaction holds ${what}, and somebody ahead has waited in vain`,
  });

/** That `what` was waited for in vain is no outage. */
export function busyOr(error: unknown, what: string, waitedMs = LOCK_TIMEOUT_MS): unknown {
  if (!isLocked(error)) return error;
  return new PawlError('STORE_BUSY', {
    detail: `another transaction has held ${what} for ${waitedMs / 1_000} s`,
    cause: error,
  });
}
