import { Cron } from 'croner';
import { PawlError } from '../../errors.js';
import { LATEST_PRESENT, LONGEST_MS, type Timestamp } from '../../kernel/index.js';
import { toMs, type Duration } from '../duration.js';
import { latestShown, momentOf } from './wall-clock.js';

/** When a schedule fires, as it is stored. */
export type Timing =
  | { readonly type: 'at'; readonly at: Timestamp }
  | { readonly type: 'every'; readonly everyMs: number; readonly from: Timestamp }
  | { readonly type: 'cron'; readonly cron: string; readonly zone: string }
  | { readonly type: 'daily'; readonly time: string; readonly zone: string };

/** When a schedule fires, as it is asked for: exactly one of `at`, `every`, `cron` and `daily`. */
export type When = {
  /** Once: a time in UTC, as text with a final Z, or milliseconds. */
  readonly at?: string | number;
  /** Again and again, counted from `from`; without it, from the creation of the schedule. */
  readonly every?: Duration;
  readonly from?: string | number;
  /** Five fields, six with seconds first, or seven with the year last; or a name such as `@daily`. */
  readonly cron?: string;
  /** A time of day, `HH:MM` or `HH:MM:SS`. */
  readonly daily?: string;
  /** An IANA time zone, for `cron` and `daily`. UTC without it. */
  readonly zone?: string;
};

const KINDS = ['at', 'every', 'cron', 'daily'] as const;
/** Shorter would fire more often than schedules are looked at. */
const LEAST_EVERY_MS = 100;
const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z$/;
const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

export function readTiming(when: When, now: Timestamp): Timing {
  const given = KINDS.filter((kind) => when[kind] !== undefined);
  const [kind] = given;
  if (kind === undefined || given.length > 1) {
    throw invalid(
      'schedule',
      `has ${given.length === 0 ? 'none' : given.join(' and ')} of ${KINDS.join(', ')}; one is needed`,
    );
  }
  if (when.zone !== undefined && kind !== 'cron' && kind !== 'daily') {
    throw invalid('zone', `has no meaning for '${kind}', which is in UTC`);
  }
  if (when.from !== undefined && kind !== 'every') {
    throw invalid('from', `has no meaning for '${kind}': it belongs to 'every'`);
  }
  switch (kind) {
    case 'at':
      return { type: 'at', at: readTime('at', when.at ?? '') };
    case 'every': {
      const everyMs = readEvery(when.every ?? 0);
      return { type: 'every', everyMs, from: when.from === undefined ? now : readTime('from', when.from) };
    }
    case 'cron':
      return { type: 'cron', cron: readCron(when.cron ?? ''), zone: readZone(when.zone ?? 'UTC') };
    case 'daily': {
      const time = when.daily ?? '';
      if (!TIME_OF_DAY.test(time))
        throw invalid('daily', `${JSON.stringify(time)} is no time such as '07:30'`);
      return { type: 'daily', time, zone: readZone(when.zone ?? 'UTC') };
    }
  }
}

/** The first firing after a moment; null if there is none. */
export function nextFire(timing: Timing, after: Timestamp): Timestamp | null {
  switch (timing.type) {
    case 'at':
      return timing.at > after ? timing.at : null;
    case 'every': {
      const { from, everyMs } = timing;
      const passed = Math.max(0, Math.floor((after - from) / everyMs));
      const next = from + passed * everyMs;
      return next > after ? next : next + everyMs;
    }
    case 'cron':
      return nextRun(timing.cron, timing.zone, after);
    case 'daily': {
      const [hours = '', minutes = '', seconds = '0'] = timing.time.split(':');
      return nextRun(`${Number(seconds)} ${Number(minutes)} ${Number(hours)} * * *`, timing.zone, after);
    }
  }
}

/**
 * A pattern that names one hour has times of day: in a zone whose clocks are put forward, those that are left out fire at the end of the
 * gap, together; where they are put back, those that come twice fire the first time. One that names several hours goes by the clock
 * on the wall: what is left out is, and what comes twice does.
 */
function nextRun(pattern: string, zone: string, after: Timestamp): Timestamp | null {
  if (zone === 'UTC' || !namesOneHour(pattern)) return runAfter(patternOf(pattern, zone), after);
  const wall = runAfter(patternOf(pattern, 'UTC'), latestShown(after, zone));
  return wall === null ? null : momentOf(wall, zone);
}

/** Of the names, all but one are of midnight. */
function namesOneHour(pattern: string): boolean {
  const fields = pattern.trim().split(/\s+/);
  const hour = fields.length === 5 ? fields[1] : fields[2];
  return hour === undefined ? /^\s*@(?!hourly)/i.test(pattern) : /^\d+$/.test(hour);
}

function runAfter(pattern: Cron, after: number): number | null {
  return pattern.nextRun(new Date(after))?.getTime() ?? null;
}

const patterns = new Map<string, Cron>();
const MOST_PATTERNS = 10_000;

/** Reading a pattern costs more than asking it. */
function patternOf(pattern: string, zone: string): Cron {
  const key = `${pattern} ${zone}`;
  let known = patterns.get(key);
  if (known === undefined) {
    known = new Cron(pattern, { timezone: zone, paused: true });
    if (patterns.size >= MOST_PATTERNS) patterns.clear();
    patterns.set(key, known);
  }
  return known;
}

/** A time in UTC, as text with a final Z, or milliseconds. */
export function readTime(field: string, value: string | number): Timestamp {
  const at = typeof value === 'number' ? value : Date.parse(value);
  // At a later time nothing could happen.
  const isTime = Number.isSafeInteger(at) && at >= 0 && at <= LATEST_PRESENT;
  // A 31st of February is read as one of March: only what reads back the same was meant.
  const isMeant = typeof value === 'number' || (UTC_TIME.test(value) && isTime && isDay(value, at));
  if (isTime && isMeant) return at;
  throw invalid(field, `${JSON.stringify(value)} is no time in UTC such as '2027-01-31T08:00:00Z'`);
}

function isDay(text: string, at: Timestamp): boolean {
  return new Date(at).toISOString().slice(0, 10) === text.slice(0, 10);
}

function readEvery(every: Duration): number {
  const everyMs = toMsOrNull(every);
  if (everyMs !== null && everyMs >= LEAST_EVERY_MS && everyMs <= LONGEST_MS) return everyMs;
  throw invalid(
    'every',
    `${JSON.stringify(every)} is no duration from ${LEAST_EVERY_MS} to ${LONGEST_MS} ms such as '15m'`,
  );
}

function toMsOrNull(duration: Duration): number | null {
  try {
    return toMs(duration, 'every');
  } catch {
    return null;
  }
}

function readCron(cron: string): string {
  try {
    if (typeof cron !== 'string' || cron.trim() === '') throw new Error('it is empty');
    // The library would take a time, and fire once.
    if (cron.includes(':')) throw new Error("a single time belongs in 'at'");
    new Cron(cron, { paused: true }).stop();
    return cron;
  } catch (error) {
    const problem = error instanceof Error ? error.message.replace(/^\w+: /, '') : '';
    throw invalid('cron', `${JSON.stringify(cron)} is no pattern such as '30 7 * * MON-FRI': ${problem}`);
  }
}

function readZone(zone: string): string {
  try {
    return Intl.DateTimeFormat('en', { timeZone: zone }) && zone;
  } catch {
    throw invalid('zone', `${JSON.stringify(zone)} is no IANA time zone such as 'Europe/Berlin'`);
  }
}

export function invalid(field: string, problem: string): PawlError {
  return new PawlError('TASK_INVALID_SCHEDULE', { detail: `${field} ${problem}`, details: { field } });
}
