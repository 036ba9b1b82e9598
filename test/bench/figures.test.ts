import { describe, expect, test } from 'vitest';
import { judge } from '../../bench/harness/bars.js';
import { chartOf, wrapped } from '../../bench/harness/chart.js';
import { statementsIn } from '../../bench/harness/meter.js';
import { readOptions } from '../../bench/harness/options.js';
import type { Found } from '../../bench/harness/rounds.js';
import { median, quantile, ratiosOf, spreadOf } from '../../bench/harness/statistics.js';
import { barsTable, tableOf } from '../../bench/harness/table.js';
import type { Figures } from '../../bench/workloads/workload.js';

const found = (subject: string, workload: Found['workload'], ...figures: Figures[]): Found => ({
  subject,
  workload,
  size: 100,
  figures,
  reason: figures.length === 0 ? 'it has no durable steps' : null,
});
const rates = (...values: readonly number[]) => values.map((value) => ({ 'jobs/s': value }));

describe('statistics', () => {
  test('the middle of an even number of rounds is the upper one, and order does not matter', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 2])).toBe(4);
    expect(median([])).toBeNaN();
  });

  test('p99 of a hundred values leaves one above it', () => {
    const values = Array.from({ length: 100 }, (_, n) => n + 1);
    expect(quantile(values, 0.99)).toBe(99);
    expect(quantile(values, 1)).toBe(100);
    expect(quantile(values, 0)).toBe(1);
  });

  test('ratios are made round by round, and a round that one side lacks has none', () => {
    expect(ratiosOf([10, 30, 50], [5, 10])).toEqual([2, 3]);
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, least: 1, most: 3 });
  });

  test('statements in one text count one by one', () => {
    expect(statementsIn('BEGIN; SET LOCAL a = 1;\n SET LOCAL b = 2')).toBe(3);
    expect(statementsIn('SELECT 1')).toBe(1);
    expect(statementsIn('')).toBe(1);
  });
});

describe('bars', () => {
  const drain = (ours: number, graphile: number) =>
    judge([
      found('pawl postgres', 'drain', ...rates(ours, ours)),
      found('peer graphile-worker', 'drain', ...rates(graphile, graphile)),
    ]).find(({ bar }) => bar.figure === 'jobs/s');

  test('a bar is met from its value on', () => {
    expect(drain(20_000, 20_000)?.met).toBe(true);
    expect(drain(19_999, 20_000)?.met).toBe(false);
  });

  test('a lower bar on what is better small is met up to its value', () => {
    const history = (ratio: number) =>
      judge([found('pawl sqlite', 'history', { 'last to 10': ratio })])[0]?.met;
    expect(history(1.5)).toBe(true);
    expect(history(1.51)).toBe(false);
  });

  test('the best of several peers counts, by the middle of its rounds', () => {
    const starts = (value: number) => ({ 'starts/s': value });
    const [verdict] = judge([
      found('pawl postgres', 'single-starts', starts(400), starts(400), starts(400)),
      found('peer pg-boss', 'single-starts', starts(1), starts(1), starts(999)),
      found('peer openworkflow', 'single-starts', starts(100), starts(100), starts(100)),
    ]);
    expect(verdict?.found?.median).toBe(4);
    expect(verdict?.met).toBe(true);
  });

  test('one whose peer did not run is neither met nor missed', () => {
    const verdicts = judge([
      found('pawl postgres', 'five-steps', { '5-step jobs/s': 1 }),
      found('peer restate', 'five-steps'),
    ]);
    expect(verdicts.map(({ met }) => met)).toEqual([null]);
    expect(barsTable(verdicts)).toContain('not run');
  });
});

describe('what is shown', () => {
  const all = [
    found('pawl postgres', 'drain', ...rates(10_000, 12_000, 11_000)),
    found('raw postgres', 'drain', ...rates(20_000, 24_000, 22_000)),
    found('peer <odd> & co', 'drain'),
  ];

  test('the table has the middle, the spread, the ratio to the raw database, and why something did not run', () => {
    const table = tableOf(all);
    expect(table).toMatch(/pawl postgres +11,000 jobs\/s +\(10,000 to 12,000\) +0\.50 × raw/);
    expect(table).toMatch(/peer <odd> & co +not run: it has no durable steps/);
  });

  test('the chart is well-formed, for light and dark ground', () => {
    const svg = chartOf(all, ['a <b> & c']);
    expect(svg).toContain('a &lt;b&gt; &amp; c');
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg.match(/<rect class="(pawl|raw|peer)"/g)).toHaveLength(2);
  });
});

describe('long lines', () => {
  test('are broken between words, and lose none', () => {
    const text = 'word '.repeat(60).trim();
    const lines = wrapped(text);
    expect(lines.length).toBeGreaterThan(2);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(112);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(text);
  });
});

describe('options', () => {
  test('everything is measured three times at full scale, unless told otherwise', () => {
    const options = readOptions([]);
    expect(options).toMatchObject({ stores: ['memory', 'sqlite', 'postgres'], rounds: 3, scale: 'full' });
  });

  test.each([
    ['--only', 'nothing', /--only nothing: there are single-starts/],
    ['--store', 'memory,oracle', /--store oracle: there are memory/],
    ['--rounds', '0', /--rounds 0 is no whole number above 0/],
    ['--peers', 'celery', /--peers celery: there are graphile-worker/],
    ['--scale', 'huge', /--scale huge: there are tiny/],
  ])('%s %s is refused, with what there is', (option, value, message) => {
    expect(() => readOptions([option, value])).toThrow(message);
  });
});
