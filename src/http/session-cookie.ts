/**
 * How a browser carries a key: pages cannot read it, and it is sent with requests of our own pages only. Other servers
 * and paths of this host do not get to see it, but for those below the same path.
 */
const NAME = 'pawl_session';
const ATTRIBUTES = 'Path=/api; HttpOnly; SameSite=Strict';
/** A working day: long enough not to ask in the middle of an incident, short enough for a browser that is left open. */
const LIFE_SECONDS = 12 * 3_600;
const CARRIED = new RegExp(`(?:^|;\\s*)${NAME}=([^;\\s]+)`);

/** Null: the request carries none. */
export function tokenInCookie(headers: Headers): string | null {
  return CARRIED.exec(headers.get('cookie') ?? '')?.[1] ?? null;
}

/** `overTls`: the browser came over HTTPS, and is to send the cookie over nothing else. */
export function sessionCookie(token: string, { overTls }: { readonly overTls: boolean }): string {
  return `${NAME}=${token}; ${ATTRIBUTES}; Max-Age=${LIFE_SECONDS}${overTls ? '; Secure' : ''}`;
}

export function endedSession(): string {
  return `${NAME}=; ${ATTRIBUTES}; Max-Age=0`;
}
