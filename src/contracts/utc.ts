import type { Timestamp } from '../kernel/index.js';

/** A moment as ISO 8601 in UTC, with `Z`; milliseconds only where there are any, as the sources write it. */
export function utc(at: Timestamp): string {
  // oxlint-disable-next-line no-restricted-globals -- formats a given moment; reads no clock
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

export function utcOrNull(at: Timestamp | null): string | null {
  return at === null ? null : utc(at);
}
