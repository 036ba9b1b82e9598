import {
  isTerminal,
  stepKey,
  type Event,
  type Job,
  type JobRow,
  type StepRef,
} from '../../src/kernel/index.js';
import type { Store } from '../../src/ports/store.js';
import type { Folded } from '../../src/sim/check/at-end.js';
import { LogWatch } from '../../src/sim/check/log-watch.js';
import type { Hits } from '../../src/sim/hits.js';
import type { Verdict } from '../../src/sim/verdict.js';

/** What the log says of one use of an effect. */
export type EffectUse = StepRef & {
  readonly jobId: string;
  intents: number;
  /** Which entry is the latest. */
  entry: number;
  /** Entries that may be followed by another, by what closed them. */
  refused: number;
  denied: number;
  /** What it is recorded to have come to. */
  readonly results: string[];
};

/** Everything that a store holds, folded from its logs. */
export type ReadJobs = Folded & {
  readonly effects: ReadonlyMap<string, EffectUse>;
  /** When jobs of each task were begun, on the store's clock. */
  readonly begun: ReadonlyMap<string, readonly number[]>;
};

const PAGE = 200;
const TOGETHER = 8;
const LOG_PAGE = 1_000;

/** Reads every log, and checks each by itself on the way, with the checkers of the simulator. */
export async function readJobs(
  store: Store,
  { hits, verdict }: { hits: Hits; verdict: Verdict },
): Promise<ReadJobs> {
  const jobs = new Map<string, LogWatch>();
  const effects = new EffectUses();
  const begun = new Map<string, number[]>();
  const begunOf = (name: string): number[] => {
    const times = begun.get(name) ?? [];
    begun.set(name, times);
    return times;
  };
  const read = async ({ jobId }: Pick<JobRow, 'jobId'>): Promise<void> => {
    const watch = new LogWatch(jobId, { hits, verdict }, ({ event, after }) => {
      effects.take(jobId, event);
      if (event.type === 'attempt.started' && event.actor !== 'recovery')
        begunOf(after.spec.task).push(event.at);
    });
    jobs.set(jobId, watch);
    for (let fromRev = 1; ;) {
      const { rows } = await store.log(jobId, { fromRev, limit: LOG_PAGE });
      for (const row of rows) watch.take(row, null);
      if (rows.length < LOG_PAGE) break;
      fromRev += rows.length;
    }
    const { job } = watch;
    if (job !== null && isTerminal(job.status)) hits.add('ending', job.deadLetter?.reason ?? job.status);
  };
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Store['list']>> = await store.list({
      tenantId: null,
      statuses: null,
      task: null,
      limit: PAGE,
      cursor,
    });
    for (let from = 0; from < page.rows.length; from += TOGETHER)
      await Promise.all(page.rows.slice(from, from + TOGETHER).map(read));
    cursor = page.next;
  } while (cursor !== null);
  return { jobs, effects: effects.byKey, begun, jobOf: (jobId): Job | null => jobs.get(jobId)?.job ?? null };
}

/** Follows effects through the logs. Events after an intent name the step, not the key. */
class EffectUses {
  readonly byKey = new Map<string, EffectUse>();
  readonly #byStep = new Map<string, EffectUse>();

  take(jobId: string, event: Event): void {
    if (event.type === 'effect.intended') {
      const { step, occurrence, entry } = event;
      const use = this.byKey.get(event.effectKey) ?? {
        jobId,
        step,
        occurrence,
        intents: 0,
        entry,
        refused: 0,
        denied: 0,
        results: [],
      };
      use.intents += 1;
      use.entry = Math.max(use.entry, entry);
      this.byKey.set(event.effectKey, use);
      this.#byStep.set(`${jobId} ${stepKey(event)}`, use);
    } else if (
      event.type === 'effect.closed' ||
      event.type === 'effect.reconciled' ||
      event.type === 'effect.recorded'
    ) {
      const use = this.#byStep.get(`${jobId} ${stepKey(event)}`);
      if (use !== undefined) end(use, event);
    }
  }
}

function end(
  use: EffectUse,
  event: Extract<Event, { type: `effect.${'closed' | 'reconciled' | 'recorded'}` }>,
): void {
  if (event.type === 'effect.closed') use.refused += 1;
  else if (event.type === 'effect.recorded') use.results.push(event.result);
  else if (event.verdict === 'notHappened') use.denied += 1;
  else if (event.result !== null) use.results.push(event.result);
}
