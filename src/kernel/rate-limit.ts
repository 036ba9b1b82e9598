import type { Timestamp } from './payload.js';

/** At most `limit` starts within any `perMs`. Whatever has the same name shares it. */
export type RateLimit = { readonly name: string; readonly limit: number; readonly perMs: number };

/** How many starts fell into each slot of time, by its first moment, oldest first. */
export type RateUse = readonly (readonly [slot: Timestamp, count: number])[];

/** Slots in one period. More let starts follow the limit more closely, and make the record longer. */
const SLOTS = 50;

/**
 * How many may start now, and when the next may if none. A slot counts until its last moment is a period ago: the limit is
 * never exceeded in any period, wherever it begins; it may be kept by a fiftieth of a period too long.
 */
export function rateRoom(
  { limit, perMs }: RateLimit,
  use: RateUse,
  now: Timestamp,
): { readonly room: number; readonly freeAt: Timestamp | null; readonly use: RateUse } {
  const lifeMs = perMs + slotMs(perMs);
  const counting = use.filter(([slot]) => slot + lifeMs > now);
  let taken = 0;
  for (const [, count] of counting) taken += count;
  const room = Math.max(0, limit - taken);
  const oldest = counting[0];
  return { room, freeAt: room > 0 || oldest === undefined ? null : oldest[0] + lifeMs, use: counting };
}

/** The use after so many more starts. */
export function useRate(
  { perMs }: RateLimit,
  use: RateUse,
  { now, starts }: { now: Timestamp; starts: number },
): RateUse {
  const slot = now - (now % slotMs(perMs));
  const last = use.at(-1);
  if (last && last[0] >= slot) return [...use.slice(0, -1), [last[0], last[1] + starts]];
  return [...use, [slot, starts]];
}

function slotMs(perMs: number): number {
  return Math.max(1, Math.floor(perMs / SLOTS));
}
