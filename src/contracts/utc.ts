import type { Timestamp } from '../kernel/index.js';

/** The last moment that was written: a view names the same one several times. */
let last = { at: 0, text: '1970-01-01T00:00:00Z' };

/** A moment as ISO 8601 in UTC, with `Z`; milliseconds only where there are any, as the sources write it. */
export function utc(at: Timestamp): string {
  if (at === last.at) return last.text;
  // oxlint-disable-next-line no-restricted-globals -- formats a given moment; reads no clock
  const text = new Date(at).toISOString().replace('.000Z', 'Z');
  last = { at, text };
  return text;
}

export function utcOrNull(at: Timestamp | null): string | null {
  return at === null ? null : utc(at);
}
