import { constants } from 'node:os';
import { PawlError, type ErrorCode } from '../../errors.js';

const SQLITE_BUSY = 5;
const SQLITE_CONSTRAINT = 19;

const CODES: Readonly<Record<number, ErrorCode>> = {
  [SQLITE_BUSY]: 'STORE_BUSY',
  8: 'STORE_READ_ONLY',
  13: 'STORE_FULL',
};

/** SQLite's primary result code; null for what is no error of SQLite. */
function resultCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null;
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY;
}

export function isConstraint(error: unknown): boolean {
  return resultCode(error) === SQLITE_CONSTRAINT;
}

/** SQLITE_CORRUPT, and SQLITE_NOTADB. */
export function isDamaged(error: unknown): boolean {
  const code = resultCode(error);
  return code === 11 || code === 26;
}

const SQLITE_IOERR = 10;
const SQLITE_IOERR_WRITE = 778;

/** What the system says where there is no more room for this user, or in this file. SQLite itself knows the first alone. */
const NO_ROOM: ReadonlySet<unknown> = new Set([
  constants.errno.ENOSPC,
  constants.errno.EDQUOT,
  constants.errno.EFBIG,
]);

/** Node's own driver does not hand on what the system said: then a write that failed may be a quota, or a broken disk. */
function codeOf(error: Error, code: number): { readonly code: ErrorCode; readonly hint: string } {
  const known = CODES[code] ?? 'STORE_UNAVAILABLE';
  if (code !== SQLITE_IOERR) return { code: known, hint: '' };
  const said = 'systemErrno' in error ? error.systemErrno : undefined;
  if (NO_ROOM.has(said)) {
    return { code: 'STORE_FULL', hint: ' (no room: the disk, a quota, or the limit on the size of a file)' };
  }
  const isUnclear = said === undefined && 'errcode' in error && Number(error.errcode) === SQLITE_IOERR_WRITE;
  return {
    code: known,
    hint: isUnclear ? ' (a write failed: look at quotas, limits on the size of files, and the disk)' : '',
  };
}

/** Errors of the database become ours; what our own code threw stays what it is. */
export function storeError(error: unknown, doing = ''): unknown {
  const code = resultCode(error);
  if (code === null || !(error instanceof Error)) return error;
  const known = codeOf(error, code);
  const detail = `${doing === '' ? '' : `${doing}: `}${error.message}${known.hint}`;
  return new PawlError(known.code, { detail, cause: error });
}
