import {
  isTerminal,
  rowOf,
  STANDING_EVENTS,
  type Event,
  type Job,
  type StepLog,
} from '../../kernel/index.js';
import type { LogRow } from '../../ports/store.js';
import type { Kept, Tables } from '../../stores/memory/tables.js';
import { LogWatch, type LogParts, type Seen } from './log-watch.js';

export type { Seen };
export type WatchParts = LogParts & { readonly tables: Tables };

/** Follows one job of the store in memory: its log, and what the store makes of each commit. */
export class JobWatch {
  readonly jobId: string;
  readonly #parts: WatchParts;
  readonly #log: LogWatch;
  #link = '';

  constructor(jobId: string, parts: WatchParts, onEvent: (seen: Seen) => void) {
    this.jobId = jobId;
    this.#parts = parts;
    this.#log = new LogWatch(jobId, parts, onEvent);
  }

  /** The job, as its events make it. */
  get job(): Job | null {
    return this.#log.job;
  }

  get steps(): StepLog {
    return this.#log.steps;
  }

  take(row: LogRow, now: number): void {
    const { tables, verdict } = this.#parts;
    const kept = tables.jobs.get(this.jobId);
    if (kept === undefined) return;
    const last = kept.log[row.rev - 2];
    verdict.expect(
      (last?.link ?? '') === this.#link,
      2,
      () => `${this.jobId}: revision ${row.rev - 1} was rewritten`,
    );
    const before = this.job;
    const events = this.#log.take(row, now);
    this.#link = row.link;
    if (this.job !== null && events.length > 0) this.#expectRow(kept, before, events);
  }

  /** The stored row is the fold; step records leave it alone. */
  #expectRow({ row }: Kept, before: Job | null, events: readonly Event[]): void {
    const { tables, verdict } = this.#parts;
    const job = this.job as Job;
    const standing =
      before?.status === 'running' && events.every(({ type }) => STANDING_EVENTS[type]?.includes('running'));
    if (!standing) {
      const expected = rowOf(job) as unknown as Record<string, unknown>;
      const stored = row as unknown as Record<string, unknown>;
      for (const field in expected) {
        if (stored[field] !== expected[field])
          verdict.breach(
            3,
            `${this.jobId}/${job.rev}: ${field} of its row is ${String(stored[field])}, not ${String(expected[field])}`,
          );
      }
    }
    if (job.status === 'failed') {
      const item = tables.dlq.get(job.deadLetter?.dlqId ?? '');
      verdict.expect(item?.jobId === this.jobId, 17, () => `${this.jobId} has failed, without a dead letter`);
    }
    if (isTerminal(job.status)) this.#parts.hits.add('ending', job.deadLetter?.reason ?? job.status);
  }
}
