import { PawlError } from '../errors.js';

/** Where a page began is no longer there, or never was: going on from the start would show everything again. */
export function badCursor(): PawlError {
  return new PawlError('INVALID_REQUEST', {
    detail: 'query.cursor: there is nothing behind it; begin again without it',
    details: { field: 'query.cursor' },
  });
}
