import { PawlError } from '../errors.js';

/**
 * A cursor that is a number: the place of the last job of the page before, which stays where it is even if that job is deleted.
 * Null comes before the newest.
 */
export function placeOf(cursor: string | null): number {
  if (cursor === null) return Number.MAX_SAFE_INTEGER;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw unreadableCursor(cursor);
}

/** It came from outside, from another store, or from a hand. */
export function unreadableCursor(cursor: string): PawlError {
  return new PawlError('INVALID_OPTION', {
    detail: `'${cursor.slice(0, 80)}' is no cursor of this list`,
    details: { option: 'cursor' },
  });
}
