import { WORKLOADS } from '../workloads/workload.js';
import type { Verdict } from './bars.js';
import type { Found } from './rounds.js';
import { ratiosOf, spreadOf } from './statistics.js';

/** Everything as a table for people: each workload with its subjects, and their figures beside the raw database's. */
export function tableOf(all: readonly Found[]): string {
  const lines: string[] = [];
  for (const { id, says } of WORKLOADS) {
    const found = all.filter(({ workload }) => workload === id);
    if (found.length === 0) continue;
    const most = Math.max(...found.map(({ size }) => size));
    lines.push('', `${id}: ${says} (${most.toLocaleString('en')})`);
    for (const one of found) lines.push(...linesOf(one, all, most));
  }
  return lines.join('\n');
}

function linesOf(one: Found, all: readonly Found[], usual: number): string[] {
  const name = `  ${one.subject.padEnd(24)}`;
  if (one.figures.length === 0) return [`${name} not run: ${one.reason}`];
  const [main = '', ...more] = Object.keys(one.figures[0] ?? {});
  const values = one.figures.flatMap((figures) => figures[main] ?? []);
  const spread = spreadOf(values);
  const parts = [
    `${shown(spread.median).padStart(9)} ${main}`.padEnd(24),
    `(${shown(spread.least)} to ${shown(spread.most)})`.padEnd(20),
    besideRaw(one, all, main),
    ...more.map((figure) => `${figure} ${shown(middle(one, figure))}`),
    ...(one.size === usual ? [] : [`of ${one.size.toLocaleString('en')}`]),
    ...(one.reason === null ? [] : [`then: ${one.reason}`]),
  ];
  return [`${name}${parts.filter((part) => part !== '').join('  ')}`];
}

function besideRaw({ subject, workload, figures }: Found, all: readonly Found[], main: string): string {
  if (!subject.startsWith('pawl ')) return '';
  const raw = all.find((one) => one.subject === `raw ${subject.slice(5)}` && one.workload === workload);
  if (!raw || raw.figures.length === 0) return '';
  const of = (rounds: Found['figures']) => rounds.flatMap((one) => one[main] ?? []);
  return `${spreadOf(ratiosOf(of(figures), of(raw.figures))).median.toFixed(2)} × raw`;
}

const middle = ({ figures }: Found, figure: string): number =>
  spreadOf(figures.flatMap((one) => one[figure] ?? [])).median;

/** Which bars are met. */
export function barsTable(verdicts: readonly Verdict[]): string {
  return verdicts
    .map(({ bar, found, met }) => {
      const word = met === null ? 'not run' : met ? 'met' : 'MISSED';
      const beside =
        bar.beside === 'itself'
          ? ''
          : ` × ${bar.beside.best.map((one) => one.replace('peer ', '')).join(' | ')}`;
      const limit = 'atLeast' in bar ? `≥ ${bar.atLeast}` : `≤ ${bar.atMost}`;
      const value = found ? `${shown(found.median)} (${shown(found.least)} to ${shown(found.most)})` : '';
      const what = `${bar.store}, ${bar.workload}, ${bar.figure}`;
      return `  ${word.padEnd(8)} ${what.padEnd(44)} ${value.padEnd(28)} bar ${limit}${beside}`;
    })
    .join('\n');
}

export const shown = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toPrecision(2);
};
