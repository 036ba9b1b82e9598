import type { WorkloadId } from '../workloads/workload.js';
import type { Found } from './rounds.js';
import { median, ratiosOf, spreadOf, type Spread } from './statistics.js';

/** What a figure is held against: nothing but the bar itself, one subject, or the best of several in the same run. */
type Beside = 'itself' | { readonly best: readonly string[] };

export type Bar = {
  readonly store: 'postgres' | 'sqlite';
  readonly workload: WorkloadId;
  readonly figure: string;
  readonly beside: Beside;
} & ({ readonly atLeast: number } | { readonly atMost: number });

/** Null: what it is held against did not run. */
export type Verdict = { readonly bar: Bar; readonly found: Spread | null; readonly met: boolean | null };

const POSTGRES_PEERS = ['graphile-worker', 'pg-boss', 'dbos', 'openworkflow', 'absurd'];
const ALL_PEERS = [...POSTGRES_PEERS, 'bullmq', 'restate', 'openworkflow-sqlite'];
const peers = (...names: readonly string[]): Beside => ({ best: names.map((name) => `peer ${name}`) });

const both = (bar: { workload: WorkloadId; figure: string; beside: Beside } & Limit): Bar[] => [
  { store: 'postgres', ...bar },
  { store: 'sqlite', ...bar },
];
type Limit = { readonly atLeast: number } | { readonly atMost: number };

/** Where Pawl wants to be, each a ratio in one run. Less is better where a bar is an upper one. */
export const BARS: readonly Bar[] = [
  {
    store: 'postgres',
    workload: 'single-starts',
    figure: 'starts/s',
    beside: peers(...POSTGRES_PEERS),
    atLeast: 4,
  },
  { store: 'postgres', workload: 'single-starts', figure: 'starts/s', beside: peers('bullmq'), atLeast: 1 },
  { store: 'sqlite', workload: 'single-starts', figure: 'starts/s', beside: peers('bullmq'), atLeast: 1.5 },
  ...both({ workload: 'bulk-starts', figure: 'bulk starts/s', beside: peers(...ALL_PEERS), atLeast: 1 }),
  { store: 'postgres', workload: 'drain', figure: 'jobs/s', beside: peers('graphile-worker'), atLeast: 1 },
  { store: 'sqlite', workload: 'drain', figure: 'jobs/s', beside: peers('graphile-worker'), atLeast: 1.5 },
  ...both({ workload: 'five-steps', figure: '5-step jobs/s', beside: peers('restate'), atLeast: 8 }),
  { store: 'postgres', workload: 'step', figure: 'ms/step', beside: peers('restate'), atMost: 1 / 4 },
  { store: 'sqlite', workload: 'step', figure: 'ms/step', beside: peers('restate'), atMost: 1 / 8 },
  ...both({ workload: 'pick-up', figure: 'p50 ms', beside: peers('bullmq'), atMost: 1 }),
  ...both({ workload: 'pick-up', figure: 'p99 ms', beside: peers('bullmq'), atMost: 1 }),
  ...both({ workload: 'backlog', figure: 'of empty', beside: 'itself', atLeast: 0.8 }),
  ...both({ workload: 'history', figure: 'last to 10', beside: 'itself', atMost: 1.5 }),
  { store: 'postgres', workload: 'drain', figure: 'statements/job', beside: 'itself', atMost: 0.1 },
  ...both({ workload: 'drain', figure: 'commits/job', beside: 'itself', atMost: 0.1 }),
  { store: 'postgres', workload: 'five-steps', figure: 'statements/job', beside: 'itself', atMost: 0.5 },
  ...both({ workload: 'five-steps', figure: 'commits/job', beside: 'itself', atMost: 0.5 }),
];

/** The bars of all that was asked of Pawl. */
export function judge(all: readonly Found[]): Verdict[] {
  return BARS.flatMap((bar): Verdict[] => {
    const ours = valuesOf(all, `pawl ${bar.store}`, bar);
    if (ours.length === 0) return [];
    const values = bar.beside === 'itself' ? ours : ratiosOf(ours, bestOf(all, bar.beside.best, bar));
    if (values.length === 0) return [{ bar, found: null, met: null }];
    const found = spreadOf(values);
    const met = 'atLeast' in bar ? found.median >= bar.atLeast : found.median <= bar.atMost;
    return [{ bar, found, met }];
  });
}

type Which = Pick<Bar, 'workload' | 'figure'>;

export function valuesOf(all: readonly Found[], subject: string, { workload, figure }: Which): number[] {
  const rounds = all.find((one) => one.subject === subject && one.workload === workload)?.figures ?? [];
  return rounds.flatMap((figures) => figures[figure] ?? []);
}

/** The rounds of whoever is best in the middle: most, or least where less is better. */
function bestOf(all: readonly Found[], subjects: readonly string[], bar: Bar): number[] {
  const present = subjects.map((one) => valuesOf(all, one, bar)).filter((values) => values.length > 0);
  const sign = 'atLeast' in bar ? -1 : 1;
  return present.toSorted((a, b) => sign * (median(a) - median(b)))[0] ?? [];
}
