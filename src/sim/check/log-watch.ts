import { CONTRACTS, isLegal, type Contract } from '../../contracts/index.js';
import {
  claimableAt,
  decodeEvents,
  evolve,
  InvariantViolation,
  StepLog,
  timesOutAt,
  watchInvariants,
  type Event,
  type Job,
} from '../../kernel/index.js';
import type { LogRow } from '../../ports/store.js';
import { holderOf } from '../../worker/names.js';
import type { Hits } from '../hits.js';
import type { Verdict } from '../verdict.js';
import { AttemptCounts } from './attempt-counts.js';
import { commandOf } from './command-of.js';
import { invariantOf } from './invariant-of.js';

const CONTRACT_LIST = Object.values(CONTRACTS) as Contract<string>[];

export type LogParts = { readonly hits: Hits; readonly verdict: Verdict };
export type Seen = { readonly before: Job | null; readonly event: Event; readonly after: Job };

/** Follows one job's log, commit by commit, wherever it is kept, and checks all that the log alone can tell. */
export class LogWatch {
  readonly jobId: string;
  readonly steps = new StepLog();
  readonly #parts: LogParts;
  readonly #findBreaches = watchInvariants();
  readonly #counts = new AttemptCounts();
  readonly #onEvent: (seen: Seen) => void;
  #job: Job | null = null;

  constructor(jobId: string, parts: LogParts, onEvent: (seen: Seen) => void) {
    this.jobId = jobId;
    this.#parts = parts;
    this.#onEvent = onEvent;
  }

  /** The job, as its events make it. */
  get job(): Job | null {
    return this.#job;
  }

  /** `now`: the store's time. Null: long after; then what a commit says of its own time counts. Answers with its events. */
  take(row: LogRow, now: number | null): readonly Event[] {
    const { verdict } = this.#parts;
    const expected = (this.#job?.rev ?? 0) + 1;
    verdict.expect(
      row.rev === expected,
      2,
      () => `${this.jobId}: revision ${row.rev} instead of ${expected}`,
    );
    const decoded = decodeEvents(row.body);
    if (!decoded.ok) {
      verdict.breach(3, `${this.jobId}/${row.rev} cannot be read: ${decoded.problem}`);
      return [];
    }
    this.#expectAuthor(row, decoded.events);
    for (const [index, event] of decoded.events.entries())
      this.#event(event, { rev: row.rev, index, now: now ?? event.at });
    return decoded.events;
  }

  #event(event: Event, { rev, index, now }: { rev: number; index: number; now: number }): void {
    const { hits, verdict } = this.#parts;
    const before = this.#job;
    hits.add('event', event.type);
    hits.add('command', commandOf(event));
    let after: Job;
    try {
      this.steps.apply(before, event);
      after = { ...evolve(before, event), rev };
    } catch (error) {
      if (!(error instanceof InvariantViolation)) throw error;
      return verdict.breach(22, `${this.jobId}/${rev}: ${error.message}`);
    }
    this.#job = after;
    for (const breach of this.#findBreaches({ rev, index, before, event, after }))
      verdict.breach(invariantOf(breach), `${this.jobId}/${rev}: ${breach}`);
    if (before === null || before.status !== after.status) {
      for (const contract of CONTRACT_LIST) {
        const { name, machine } = contract;
        const [from, to] = [before && contract.project(before), contract.project(after)];
        verdict.expect(
          isLegal(machine, from, to),
          22,
          () => `${this.jobId}/${rev}: ${name} has ${from} → ${to}`,
        );
      }
    }
    for (const [invariant, problem] of this.#counts.take(event, after.spec))
      verdict.breach(invariant, `${this.jobId}/${rev}: ${problem}`);
    const early = earlyBy(before, event, now);
    verdict.expect(early === null, 9, () => `${this.jobId}/${rev}: ${early}`);
    this.#onEvent({ before, event, after });
  }

  /** Only the attempt that holds the job writes for a worker. */
  #expectAuthor({ commandId, rev }: LogRow, events: readonly Event[]): void {
    const author = commandId === null ? null : holderOf(commandId);
    if (author === null || events.some(({ type }) => type === 'attempt.started')) return;
    this.#parts.verdict.expect(
      this.#job?.attemptId === author.attemptId && !this.#job.fenced,
      5,
      () =>
        `${this.jobId}/${rev} was written by ${author.attemptId}, while ${this.#job?.attemptId} holds the job`,
    );
  }
}

/** What happened before its time, on the store's own clock. */
function earlyBy(before: Job | null, event: Event, now: number): string | null {
  if (event.at > now) return `${event.type} is dated ${event.at - now} ms ahead of the store`;
  if (before === null) return null;
  const early = (due: number | null, what: string) =>
    due !== null && now < due ? `${what} ${due - now} ms early` : null;
  switch (event.type) {
    case 'job.promoted':
      return early(before.spec.scheduledAt, 'promoted');
    case 'attempt.started':
      return event.actor === 'recovery' ? null : early(claimableAt(before), 'claimed');
    case 'attempt.failed':
      return event.failure.code === 'TASK_TIMEOUT' ? early(timesOutAt(before), 'timed out') : null;
    case 'wait.completed':
      return event.outcome === 'elapsed' || event.outcome === 'timeout'
        ? early(event.wait.expiresAt, 'fired')
        : null;
    case 'dlq.entered':
      return event.reason === 'deadline' ? early(before.spec.deadlineAt, 'expired') : null;
    default:
      return null;
  }
}
