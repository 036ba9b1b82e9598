import { describe, expect, test } from 'vitest';
import { nextFire, readTiming, type When } from './timing.js';

const at = (text: string): number => Date.parse(text);

function firings(when: When, from: string, count: number): string[] {
  const timing = readTiming(when, at(from));
  const found: string[] = [];
  for (let after = at(from); found.length < count;) {
    const next = nextFire(timing, after);
    if (next === null) break;
    found.push(new Date(next).toISOString().replace(':00.000Z', 'Z'));
    after = next;
  }
  return found;
}

/** What each zone's clocks do, and what becomes of a time that is left out or comes twice. */
describe('TSK-4 clocks that are put forward or back', () => {
  test.each<[string, When, string, string[]]>([
    [
      'New York, spring: 02:30 is left out, and fires at 03:00',
      { daily: '02:30', zone: 'America/New_York' },
      '2026-03-07T12:00:00Z',
      ['2026-03-08T07:00Z', '2026-03-09T06:30Z'],
    ],
    [
      'New York, autumn: 01:30 comes twice, and fires the first time',
      { daily: '01:30', zone: 'America/New_York' },
      '2026-10-31T12:00:00Z',
      ['2026-11-01T05:30Z', '2026-11-02T06:30Z'],
    ],
    [
      'New York, autumn: every half hour goes on through both',
      { cron: '*/30 * * * *', zone: 'America/New_York' },
      '2026-11-01T04:45:00Z',
      [
        '2026-11-01T05:00Z',
        '2026-11-01T05:30Z',
        '2026-11-01T06:00Z',
        '2026-11-01T06:30Z',
        '2026-11-01T07:00Z',
      ],
    ],
    [
      'Berlin, spring: of several hours the one that is left out is',
      { cron: '15 1-4 * * *', zone: 'Europe/Berlin' },
      '2026-03-28T12:00:00Z',
      ['2026-03-29T00:15Z', '2026-03-29T01:15Z', '2026-03-29T02:15Z', '2026-03-29T23:15Z'],
    ],
    [
      'Berlin, autumn: of several hours the one that comes twice does',
      { cron: '0 */2 * * *', zone: 'Europe/Berlin' },
      '2026-10-24T22:30:00Z',
      ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T03:00Z'],
    ],
    [
      'Berlin, spring: 02:30 is left out, and fires at 03:00',
      { cron: '30 2 * * *', zone: 'Europe/Berlin' },
      '2026-03-28T12:00:00Z',
      ['2026-03-29T01:00Z', '2026-03-30T00:30Z'],
    ],
    [
      'Berlin, autumn: 02:30 comes twice, and fires the first time',
      { cron: '30 2 * * *', zone: 'Europe/Berlin' },
      '2026-10-24T12:00:00Z',
      ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
    ],
    [
      'Cairo, spring: 00:15 is left out, and fires at 01:00',
      { daily: '00:15', zone: 'Africa/Cairo' },
      '2026-04-22T23:00:00Z',
      ['2026-04-23T22:00Z', '2026-04-24T21:15Z'],
    ],
    [
      'Cairo, autumn: 23:30 comes twice, and fires the first time',
      { daily: '23:30', zone: 'Africa/Cairo' },
      '2026-10-28T23:00:00Z',
      ['2026-10-29T20:30Z', '2026-10-30T21:30Z'],
    ],
    [
      'Lord Howe, spring: half an hour is left out, and 02:15 fires at 02:30',
      { daily: '02:15', zone: 'Australia/Lord_Howe' },
      '2026-10-02T16:00:00Z',
      ['2026-10-03T15:30Z', '2026-10-04T15:15Z'],
    ],
    [
      'Lord Howe, autumn: half an hour comes twice, and 01:45 fires the first time',
      { daily: '01:45', zone: 'Australia/Lord_Howe' },
      '2026-04-03T16:00:00Z',
      ['2026-04-04T14:45Z', '2026-04-05T15:15Z'],
    ],
    [
      'Nuuk, spring: the gap ends with the day, and 23:30 fires at its end, which is midnight',
      { daily: '23:30', zone: 'America/Nuuk' },
      '2026-03-27T12:00:00Z',
      ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z'],
    ],
    [
      'Nuuk, spring: so does a pattern for that day only',
      { cron: '30 23 28 3 *', zone: 'America/Nuuk' },
      '2026-03-27T12:00:00Z',
      ['2026-03-29T01:00Z', '2027-03-29T00:30Z'],
    ],
    [
      'Santiago, spring: midnight is left out, and fires at 01:00',
      { cron: '@daily', zone: 'America/Santiago' },
      '2026-09-05T12:00:00Z',
      ['2026-09-06T04:00Z', '2026-09-07T03:00Z'],
    ],
    [
      'Apia: a day is left out, and fires when it is over',
      { daily: '10:00', zone: 'Pacific/Apia' },
      '2011-12-29T12:00:00Z',
      ['2011-12-29T20:00Z', '2011-12-30T10:00Z', '2011-12-30T20:00Z'],
    ],
    [
      'New York, spring: several minutes of the hour that is left out fire at its end, once',
      { cron: '0,30 2 * * *', zone: 'America/New_York' },
      '2026-03-07T12:00:00Z',
      ['2026-03-08T07:00Z', '2026-03-09T06:00Z', '2026-03-09T06:30Z'],
    ],
    [
      'New York, autumn: several minutes of the hour that comes twice fire the first time',
      { cron: '0,30 1 * * *', zone: 'America/New_York' },
      '2026-10-31T12:00:00Z',
      ['2026-11-01T05:00Z', '2026-11-01T05:30Z', '2026-11-02T06:00Z'],
    ],
    [
      'New York, autumn: what comes again has been, for a schedule that is made in between too',
      { cron: '*/10 1 * * *', zone: 'America/New_York' },
      '2026-11-01T06:15:00Z',
      ['2026-11-02T06:00Z'],
    ],
    [
      'Santiago, spring: every hour goes on without the one that is left out',
      { cron: '@hourly', zone: 'America/Santiago' },
      '2026-09-06T02:30:00Z',
      ['2026-09-06T03:00Z', '2026-09-06T04:00Z', '2026-09-06T05:00Z'],
    ],
  ])('%s', (_name, when, from, expected) => {
    expect(firings(when, from, expected.length)).toEqual(expected);
  });
});

/** Gaps and overlaps at midnight, before it, of half an hour, and in Ramadan. */
test.each([
  ['America/Nuuk', '23:30'],
  ['Africa/Cairo', '00:00'],
  ['Africa/Casablanca', '02:15'],
  ['Australia/Lord_Howe', '01:45'],
])('TSK-4 every day of a year has its firing: %s, %s', (zone, daily) => {
  const [from, to] = [at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z')];
  const timing = readTiming({ daily, zone }, from);
  let count = 0;
  for (let next = nextFire(timing, from); next !== null && next < to; next = nextFire(timing, next)) count++;
  expect(count).toBe(365);
});

describe('TSK-4 timing', () => {
  test('every: counted from its start, whatever is missed', () => {
    const when = { every: '15m', from: '2026-01-01T00:07:00Z' } as const;
    expect(firings(when, '2026-01-01T09:00:00Z', 2)).toEqual(['2026-01-01T09:07Z', '2026-01-01T09:22Z']);
    expect(firings(when, '2025-12-31T00:00:00Z', 2)).toEqual(['2026-01-01T00:07Z', '2026-01-01T00:22Z']);
  });

  test('every: the longest, and from the latest time there is', () => {
    const [longest, latest] = [9e12, 8.64e15 - 2 * 9e12];
    expect(nextFire(readTiming({ every: longest }, 5), 5)).toBe(longest + 5);
    expect(nextFire(readTiming({ every: '1h', from: latest }, 5), 5)).toBe(latest);
  });

  test('at: once', () => {
    expect(firings({ at: '2027-01-31T08:00:00Z' }, '2026-01-01T00:00:00Z', 2)).toEqual(['2027-01-31T08:00Z']);
  });

  test('cron: six fields with seconds first, seven with the year last, or a name', () => {
    expect(firings({ cron: '0 30 7 1 1 *' }, '2026-06-01T00:00:00Z', 1)).toEqual(['2027-01-01T07:30Z']);
    expect(firings({ cron: '0 30 7 1 1 * 2030' }, '2026-06-01T00:00:00Z', 2)).toEqual(['2030-01-01T07:30Z']);
    expect(firings({ cron: '@daily' }, '2026-06-01T12:00:00Z', 1)).toEqual(['2026-06-02T00:00Z']);
  });

  test('a leap day, and a day that never comes', () => {
    expect(firings({ cron: '0 12 29 2 *' }, '2026-01-01T00:00:00Z', 1)).toEqual(['2028-02-29T12:00Z']);
    expect(firings({ cron: '0 0 30 2 *' }, '2026-01-01T00:00:00Z', 1)).toEqual([]);
  });

  test.each<[string, When]>([
    ['schedule', {}],
    ['schedule', { every: '1h', cron: '* * * * *' }],
    ['cron', { cron: '61 * * * *' }],
    ['cron', { cron: 'every day' }],
    ['cron', { cron: '' }],
    ['cron', { cron: '2027-01-31T08:00:00Z' }],
    ['cron', { cron: '2027-01-31 08:00' }],
    ['zone', { cron: '0 0 * * *', zone: 'Mars/Base' }],
    ['zone', { every: '1h', zone: 'Europe/Berlin' }],
    ['daily', { daily: '24:00' }],
    ['daily', { daily: '7:30' }],
    ['at', { at: '2027-01-31T08:00:00+01:00' }],
    ['at', { at: '2027-01-31' }],
    ['at', { at: '2027-02-31T08:00:00Z' }],
    ['at', { at: Number.NaN }],
    ['at', { at: 8.64e15 }],
    ['at', { at: Number.MAX_SAFE_INTEGER }],
    ['every', { every: -5 }],
    ['every', { every: 10 }],
    ['every', { every: 'often' as '1h' }],
    ['every', { every: 9e12 + 1 }],
    ['every', { every: Number.MAX_SAFE_INTEGER }],
    ['every', { every: '100000000w' }],
    ['from', { every: '1h', from: 'yesterday' }],
    ['from', { every: '1h', from: 8.64e15 }],
    ['from', { cron: '0 0 * * *', from: 'garbage' }],
    ['from', { daily: '07:30', from: '2027-01-31T08:00:00Z' }],
    ['from', { at: '2027-01-31T08:00:00Z', from: 0 }],
  ])('TSK-4 TASK_INVALID_SCHEDULE names the field: %s in %j', (field, when) => {
    expect(() => readTiming(when, 0)).toThrow(
      expect.objectContaining({ code: 'TASK_INVALID_SCHEDULE', details: { field } }),
    );
  });
});
