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

/** What the server said no with, where that has become an error of ours. */
export function sqlStateOf(error: unknown): string {
  return codeOf(error instanceof Error ? error.cause : null);
}

/** A statement, or a connection, was not answered in time. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && /read timeout|timeout expired/i.test(error.message);
}

/** The pool had no connection free for as long as one waits for that. Nothing was sent, and of the server this says nothing. */
function isCrowd(error: unknown): boolean {
  return error instanceof Error && /timeout exceeded when trying to connect/i.test(error.message);
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
  return sqlStateOf(error).startsWith('22');
}

/** Nothing happened, or nobody can tell: it may be sent again as it was. */
export function mayTryAgain(error: unknown): boolean {
  return GIVEN_UP.has(codeOf(error)) || isConnectionFailure(error) || isCrowd(error);
}

const CODES: readonly (readonly [sqlState: RegExp, code: ErrorCode])[] = [
  [/^22/, 'INVALID_OPTION'],
  [/^28/, 'STORE_ACCESS_DENIED'],
  [/^42501$/, 'STORE_ACCESS_DENIED'],
  [/^53100$/, 'STORE_FULL'],
  [/^25006$/, 'STORE_READ_ONLY'],
];

/** Also where an application brings a driver of its own, whose errors are of another class. */
function isFromServer(error: Error): boolean {
  return error instanceof pg.DatabaseError || ('severity' in error && /^[0-9A-Z]{5}$/.test(codeOf(error)));
}

/** Errors of the server become ours; what our own code threw stays what it is. */
export function storeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (isCrowd(error)) {
    const detail = 'Postgres: all connections that this process has for this were in use for too long';
    return new PawlError('STORE_BUSY', { detail, cause: error });
  }
  if (!isFromServer(error) && !isConnectionFailure(error)) return error;
  const [, code] = CODES.find(([sqlState]) => sqlState.test(codeOf(error))) ?? [
    '',
    'STORE_UNAVAILABLE' as const,
  ];
  return new PawlError(code, { detail: `Postgres: ${error.message || codeOf(error)}`, cause: error });
}
