import {
  canonicalJson,
  CHAIN_START,
  chainLink,
  decodeEvents,
  evolve,
  InvariantViolation,
  rowOf,
  watchInvariants,
  type Event,
  type Job,
  type JobRow,
} from '../../kernel/index.js';
import { chainHash } from '../sha256.js';
import { checkDeadLetter } from './check-dead-letter.js';
import { LedgerCheck } from './check-ledger.js';
import { summaryOf, type EvidenceRecord, type LogRecord } from './evidence-record.js';

/** What a job's evidence is made of. */
export type JobRecord = Exclude<EvidenceRecord, { readonly kind: 'evidence' | 'job' | 'end' }>;

/**
 * Checks the evidence of one job as it comes, however long its log is: the chain, that no revision is missing, that its
 * events lead from one state to the next and break no invariant, that the ledger agrees with them, and that they make
 * the row.
 */
export class JobCheck {
  readonly jobId: string;
  readonly #watch = watchInvariants();
  readonly #ledger: LedgerCheck;
  #job: Job | null = null;
  #link: string = CHAIN_START;
  #events = 0;
  #hasItem = false;

  constructor(jobId: string) {
    this.jobId = jobId;
    this.#ledger = new LedgerCheck(jobId);
  }

  /** The link of the last row. */
  get head(): string {
    return this.#link;
  }

  get commits(): number {
    return this.#job?.rev ?? 0;
  }

  get events(): number {
    return this.#events;
  }

  /** The row as the log makes it so far. */
  get listed(): JobRow | null {
    return this.#job && rowOf(this.#job);
  }

  /** Takes the next record; `row` is the last. Answers with what is wrong, or null. */
  take(record: JobRecord): string | null {
    if (record.kind === 'log') return this.#log(record);
    if (record.kind === 'message') return null;
    if (this.#job === null) return 'it has no log';
    switch (record.kind) {
      case 'effect':
        return this.#ledger.row(record);
      case 'deadLetter':
        this.#hasItem = true;
        return checkDeadLetter(this.#job, record.item);
      case 'row':
        return this.#row(this.#job, record.row);
    }
  }

  #log(row: LogRecord): string | null {
    const { rev, commandId, body } = row;
    const expected = this.commits + 1;
    if (rev !== expected) return `revision ${expected} is missing; revision ${rev} stands in its place`;
    this.#link = chainLink(chainHash, this.#link, { jobId: this.jobId, rev, commandId, body });
    if (this.#link !== row.link) return `revision ${rev} does not fit its link in the hash chain`;
    const decoded = decodeEvents(body);
    if (!decoded.ok) return `revision ${rev} cannot be read: ${decoded.problem}`;
    return this.#fold(rev, decoded.events);
  }

  #row(job: Job, row: object): string | null {
    const differs = differingField(summaryOf(job), row);
    if (differs !== null) return `its row is not what its log makes: ${differs} differs`;
    if (job.status === 'failed' && !this.#hasItem)
      return 'it has failed, and its dead-letter item is missing';
    return this.#ledger.missing();
  }

  #fold(rev: number, events: readonly Event[]): string | null {
    for (const [index, event] of events.entries()) {
      const before: Job | null = this.#job;
      try {
        this.#job = { ...evolve(before, event), rev };
      } catch (error) {
        if (error instanceof InvariantViolation) return `revision ${rev} is impossible: ${error.message}`;
        throw error;
      }
      this.#events += 1;
      const [breach] = this.#watch({ rev, index, before, event, after: this.#job });
      const problem = breach === undefined ? this.#ledger.event(event) : `an invariant is broken: ${breach}`;
      if (problem !== null) return `revision ${rev}: ${problem}`;
    }
    if (this.#job?.spec.jobId !== this.jobId) return `revision ${rev} is of job ${this.#job?.spec.jobId}`;
    return null;
  }
}

/** The first field in which what is stored is not what it should be; null if there is none. */
export function differingField(expected: object, stored: object): string | null {
  const found = stored as Readonly<Record<string, unknown>>;
  const wanted = expected as Readonly<Record<string, unknown>>;
  const fields = new Set([...Object.keys(wanted), ...Object.keys(found)]);
  return [...fields].find((field) => !isSame(wanted[field], found[field])) ?? null;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || textOf(a) === textOf(b);
}

function textOf(value: unknown): string {
  return value === undefined ? '' : canonicalJson(JSON.stringify(value));
}
