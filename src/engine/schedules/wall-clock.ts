import type { Timestamp } from '../../kernel/index.js';

/** What a zone's clocks show, written as the moment at which those in UTC show the same. */
export type WallTime = number;

const SECOND = 1_000;
/** Clocks are never further than this from UTC, nor put forward or back twice within two of them. */
const DAY = 24 * 3_600 * SECOND;

export function wallTimeOf(at: Timestamp, zone: string): WallTime {
  const ofSecond = ((at % SECOND) + SECOND) % SECOND;
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  // oxlint-disable-next-line no-restricted-globals -- counts a given day; reads no clock
  return Date.UTC(year, month - 1, day, hour, minute, second) + ofSecond;
}

/** When clocks first show a time. One that is left out, since they are put forward, comes when they are. */
export function momentOf(wall: WallTime, zone: string): Timestamp {
  const [before, after] = [offsetAt(wall - DAY, zone), offsetAt(wall + DAY, zone)];
  if (before === after || offsetAt(wall - before, zone) === before) return wall - before;
  if (offsetAt(wall - after, zone) === after) return wall - after;
  return changeBetween(wall - after, wall - before, zone);
}

/** The latest time that clocks have shown: where they have just been put back, it is later than what they show. */
export function latestShown(at: Timestamp, zone: string): WallTime {
  const wall = wallTimeOf(at, zone);
  if (offsetAt(at - DAY, zone) <= wall - at) return wall;
  return Math.max(wall, wallTimeOf(changeBetween(at - DAY, at, zone) - 1, zone));
}

function offsetAt(at: Timestamp, zone: string): number {
  return wallTimeOf(at, zone) - at;
}

/** When clocks are put forward or back, which they are once between the two. */
function changeBetween(from: Timestamp, to: Timestamp, zone: string): Timestamp {
  const before = offsetAt(from, zone);
  let [early, late] = [from, to];
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (offsetAt(middle, zone) === before) early = middle;
    else late = middle;
  }
  return late;
}

const formats = new Map<string, Intl.DateTimeFormat>();

const MOST_FORMATS = 1_000;

/** To make one costs far more than to use it. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let known = formats.get(zone);
  if (known === undefined) {
    known = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (formats.size >= MOST_FORMATS) formats.clear();
    formats.set(zone, known);
  }
  return known;
}
