import { systemClock } from '../client/system-clock.js';
import { Hits } from './hits.js';
import { planOf, type Plan } from './plan.js';
import { simulate, type Outcome } from './simulation.js';

export type SeedsOptions = {
  readonly from: number;
  /** Null: as many as there is time for. */
  readonly seeds: number | null;
  readonly seconds: number | null;
  readonly stopAtFailure: boolean;
  readonly onProgress: (summary: Summary) => void;
};

export type Failure = { readonly plan: Plan; readonly outcome: Outcome };

export type Summary = {
  readonly seeds: number;
  readonly decisions: number;
  /** Of this process; on a machine that does other things as well, time on the wall says little. */
  readonly cpuSeconds: number;
  readonly medianDecisions: number;
  readonly hits: Readonly<Record<string, number>>;
  readonly failures: readonly Failure[];
};

const PROGRESS_EVERY_MS = 2_000;

/** Runs one seed after the other. */
export async function runSeeds(options: SeedsOptions): Promise<Summary> {
  const { from, seeds, seconds, stopAtFailure, onProgress } = options;
  const startedAt = systemClock.elapsed();
  const cpuAtStart = cpuSeconds();
  const hits = new Hits();
  const lengths: number[] = [];
  const failures: Failure[] = [];
  let decisions = 0;
  let toldAt = startedAt;
  const summary = (): Summary => ({
    seeds: lengths.length,
    decisions,
    cpuSeconds: cpuSeconds() - cpuAtStart,
    medianDecisions: lengths.toSorted((a, b) => a - b)[lengths.length >> 1] ?? 0,
    hits: hits.all,
    failures,
  });
  const end = seeds === null ? Number.POSITIVE_INFINITY : from + seeds;
  for (let seed = from; seed < end; seed++) {
    if (seconds !== null && systemClock.elapsed() - startedAt >= seconds * 1_000) break;
    const plan = planOf(seed);
    const outcome = await withoutStacks(() => simulate(plan));
    decisions += outcome.decisions;
    lengths.push(outcome.decisions);
    hits.take(outcome.hits);
    if (outcome.breaches.length > 0) failures.push({ plan, outcome });
    if (stopAtFailure && failures.length > 0) break;
    if (systemClock.elapsed() - toldAt >= PROGRESS_EVERY_MS) {
      toldAt = systemClock.elapsed();
      onProgress(summary());
    }
  }
  return summary();
}

/** Errors are daily bread here, and nobody reads where they came from; who tells the story of a seed does. */
async function withoutStacks<T>(run: () => Promise<T>): Promise<T> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return await run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Several processes' work as one. Medians cannot be added: the least of them is what is certain. */
export function together(summaries: readonly Summary[]): Summary {
  const hits = new Hits();
  for (const summary of summaries) hits.take(summary.hits);
  const sum = (of: (summary: Summary) => number) => summaries.reduce((all, one) => all + of(one), 0);
  return {
    seeds: sum(({ seeds }) => seeds),
    decisions: sum(({ decisions }) => decisions),
    cpuSeconds: sum(({ cpuSeconds: spent }) => spent),
    medianDecisions: Math.min(...summaries.map(({ medianDecisions }) => medianDecisions)),
    hits: hits.all,
    failures: summaries.flatMap(({ failures }) => failures),
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
