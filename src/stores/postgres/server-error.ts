import pg from 'pg';
import { PawlError, type ErrorCode } from '../../errors.js';

/** Serialisation failure and deadlock: nothing happened, and the same again may well succeed. */
const GIVEN_UP = new Set(['40001', '40P01']);

/**
 * What the system says of a server that cannot be reached: it is down or starting, its name is not known just now, or there is no
 * way to it. A socket in the file system is not there while its server restarts. Most such errors name the call that failed; those
 * of several addresses together, and of a connection that ended, have only the code.
 */
const UNREACHABLE = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'ENOTCONN',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'EADDRNOTAVAIL',
]);

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** A statement, or a connection, was not answered in time. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && /read timeout|timeout (expired|exceeded)/i.test(error.message);
}

function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error);
  const lost =
    error instanceof Error && /connection (terminated|is closed|error)|not queryable/i.test(error.message);
  return (
    lost ||
    isSilence(error) ||
    /^(08|57P0|25P03)/.test(code) ||
    UNREACHABLE.has(code) ||
    (error instanceof Error && 'syscall' in error)
  );
}

/** The server cannot read what one of our statements has told it: a text with a NUL, a number that is too large. */
export function isUnreadable(error: unknown): boolean {
  return codeOf(error instanceof Error ? error.cause : null).startsWith('22');
}

/** Nothing happened, or nobody can tell: it may be sent again as it was. */
export function mayTryAgain(error: unknown): boolean {
  return GIVEN_UP.has(codeOf(error)) || isConnectionFailure(error);
}

const CODES: readonly (readonly [sqlState: RegExp, code: ErrorCode])[] = [
  [/^28/, 'STORE_ACCESS_DENIED'],
  [/^42501$/, 'STORE_ACCESS_DENIED'],
  [/^53100$/, 'STORE_FULL'],
  [/^25006$/, 'STORE_READ_ONLY'],
];

/** Errors of the server become ours; what our own code threw stays what it is. */
export function storeError(error: unknown): unknown {
  const fromServer = error instanceof pg.DatabaseError || isConnectionFailure(error);
  if (!fromServer || !(error instanceof Error)) return error;
  const [, code] = CODES.find(([sqlState]) => sqlState.test(codeOf(error))) ?? [
    '',
    'STORE_UNAVAILABLE' as const,
  ];
  return new PawlError(code, { detail: `Postgres: ${error.message || codeOf(error)}`, cause: error });
}
