import { Observable } from './observable.js';

export type Connection = {
  /** Since when the server has not been heard of, by this machine's clock; null while it answers. */
  readonly lostSince: number | null;
  /** When it last answered. */
  readonly heardAt: number | null;
};

export const connection = new Observable<Connection>({ lostSince: null, heardAt: null });

/** How far the server's clock is ahead of this machine's. Ages are told by the server's: all times are its own. */
let aheadMs = 0;
/** `date` has whole seconds, and a reply takes a while: less than this is no difference. */
const NO_DIFFERENCE_MS = 3_000;

export function heardFrom(headers: Headers): void {
  const now = Date.now();
  const date = Date.parse(headers.get('date') ?? '');
  if (!Number.isNaN(date)) aheadMs = Math.abs(date - now) < NO_DIFFERENCE_MS ? 0 : date - now;
  connection.set({ lostSince: null, heardAt: now });
}

export function notHeard(): void {
  const { lostSince, heardAt } = connection.value;
  if (lostSince === null) connection.set({ lostSince: Date.now(), heardAt });
}

/** Counts the answers that said that nobody is signed in: a session may end at any moment. */
export const signedOut = new Observable(0);

/** The time that the server has, as well as it is known. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}
