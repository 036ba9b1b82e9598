import { PawlError } from '../errors.js';
import type { FeedPosition } from '../ports/store.js';

/** A position that is a number; null comes before the first. */
export function feedIndex(after: FeedPosition | null): number {
  if (after === null) return 0;
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw unreadablePosition(after);
}

/** It came from outside, from another store, or from a hand. */
export function unreadablePosition(after: FeedPosition): PawlError {
  return new PawlError('INVALID_OPTION', {
    detail: `'${after.slice(0, 80)}' is no position in this feed`,
    details: { option: 'after' },
  });
}
