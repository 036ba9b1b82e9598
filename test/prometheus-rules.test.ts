import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ALERT_RULES, SEVERITIES } from '../src/engine/alerts/alert.js';
import { ALERT_DEFAULTS } from '../src/engine/alerts/alert-options.js';
import { toMs, type Duration } from '../src/engine/duration.js';
import { METRICS, type MetricName } from '../src/engine/metric-names.js';
import { isLive, STATUSES } from '../src/kernel/index.js';
import { read } from './source-files.js';

const FILE = 'ops/prometheus/pawl.rules.yml';

type Rule = {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string; rule?: string };
  annotations: { summary: string; description: string };
};
const { groups } = parse(read(FILE)) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const ruleOf = (name: string): Rule => rules.find(({ labels }) => labels.rule === name) as Rule;

/** Each use of a metric: its name, the labels that it is selected by, and those that it is summed by. */
function usesIn(expr: string): { name: string; before: string; labels: string[] }[] {
  return [...expr.matchAll(/\bpawl_\w+/g)].map(({ 0: name, index }) => {
    const before = expr.slice(0, index);
    const selector = /^\{([^}]*)\}/.exec(expr.slice(index + name.length))?.[1] ?? '';
    const summedBy = /by \(([^)]*)\) \((?:increase\()?$/.exec(before)?.[1] ?? '';
    const selected = [...selector.matchAll(/(\w+)\s*=/g)].map((match) => match[1] ?? '');
    return { name, before, labels: [...selected, ...summedBy.split(', ').filter((label) => label !== '')] };
  });
}

/** As Prometheus writes it. */
const span = (duration: Duration): string =>
  ({ 5_000: '5s', 300_000: '5m', 3_600_000: '1h', 86_400_000: '1d' })[toMs(duration, 'span')] ?? 'unknown';

const FIELDS: ReadonlySet<string> = new Set(['alert', 'expr', 'for', 'labels', 'annotations']);

describe('JOB-12 the rules for Prometheus', () => {
  test('JOB-12 have the structure that Prometheus loads', () => {
    expect(groups.length).toBeGreaterThan(0);
    expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const rule of rules) {
      expect(Object.keys(rule).filter((key) => !FIELDS.has(key))).toEqual([]);
      expect(rule.alert).toMatch(/^Pawl[A-Za-z]+$/);
      expect(['P1', 'P2']).toContain(rule.labels.severity);
      if (rule.for !== undefined) expect(rule.for).toMatch(/^\d+(s|m|h|d)$/);
      for (const text of [rule.annotations.summary, rule.annotations.description])
        expect(text).toMatch(/\.$/);
      expect(rule.expr.split('(').length).toBe(rule.expr.split(')').length);
      // What a message names must still be there after summing.
      for (const [, label = ''] of rule.annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
        for (const { labels } of usesIn(rule.expr)) expect(labels).toContain(label);
      }
    }
  });

  test('JOB-12 name only metrics that there are, with labels that they have, counters by their increase', () => {
    const used = rules.flatMap(({ expr }) => usesIn(expr));
    expect(used.length).toBeGreaterThan(8);
    for (const { name, before, labels } of used) {
      expect(Object.keys(METRICS)).toContain(name);
      const metric = METRICS[name as MetricName];
      for (const label of labels) expect(metric.labels, name).toContain(label);
      expect(before.endsWith('increase('), name).toBe(metric.kind === 'counter');
      expect(name.endsWith('_total'), name).toBe(metric.kind === 'counter');
    }
  });

  test('JOB-12 stand for every rule of the engine, with its severity', () => {
    const own = rules.flatMap(({ labels }) => labels.rule ?? []);
    expect(own.toSorted()).toEqual([...ALERT_RULES].toSorted());
    for (const rule of ALERT_RULES) expect(ruleOf(rule).labels.severity).toBe(SEVERITIES[rule]);
  });

  test('JOB-12 have the thresholds of the engine’s defaults', () => {
    const { retryingShare, dlqGrowth, transitionRefused, effectLateResult, storeUnavailable } =
      ALERT_DEFAULTS;
    const states = STATUSES.filter(isLive).join('|');
    const live = `max by (tenant, status) (pawl_jobs{status=~"${states}"})`;
    const of = (metric: string) => `sum by (tenant) (${metric})`;
    expect(ruleOf('retrying_share')).toMatchObject({
      expr:
        `max by (tenant) (pawl_jobs{status="retrying"}) > ${retryingShare.share} * ${of(live)} ` +
        `and ${of(live)} >= ${retryingShare.atLeast}`,
      for: span(retryingShare.for),
    });
    const entries = (range: string) => of(`increase(pawl_dlq_entries_total[${range}])`);
    const within = span(dlqGrowth.within);
    const [part, whole] = [toMs(dlqGrowth.within, ''), toMs(dlqGrowth.before, '')].map((ms) => ms / 60_000);
    expect(ruleOf('dlq_growth').expr).toBe(
      `${entries(within)} >= ${dlqGrowth.atLeast} unless ${entries(within)} <= ${dlqGrowth.times} * ` +
        `${of(`increase(pawl_dlq_entries_total[${span(dlqGrowth.before)}] offset ${within})`)} * ${part} / ${whole}`,
    );
    expect(ruleOf('transition_refused').expr).toBe(
      `${of(`increase(pawl_transitions_refused_total[${span(transitionRefused.within)}])`)} >= ${transitionRefused.inARow}`,
    );
    expect(ruleOf('effect_late_result').expr).toBe(
      `sum(increase(pawl_effects_late_total[${span(effectLateResult.for)}])) > 0`,
    );
    expect(ruleOf('store_unavailable')).toMatchObject({
      expr: 'min(pawl_store_up) == 0',
      for: span(storeUnavailable.for),
    });
  });

  test('the file is part of the package', () => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    expect(files).toContain(FILE.split('/')[0]);
  });
});
