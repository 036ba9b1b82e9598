import type { Status, Timestamp } from '../kernel/index.js';
import type { Identity } from './store-data.js';

export type AgedPage = {
  /** Jobs that ended before may go, unless their dead-letter item is still open. */
  readonly finishedBefore: Timestamp;
  /** Exceptions: the first rule that fits a job counts instead. */
  readonly rules?: readonly AgeRule[];
  readonly limit: number;
  /** `next` of the page before: the oldest jobs are looked at first. Null begins. */
  readonly after: string | null;
};
/** Null fits every task, or every way to end. */
export type AgeRule = {
  readonly task: string | null;
  readonly status: Status | null;
  readonly finishedBefore: Timestamp;
};
export type AgedJob = {
  readonly jobId: string;
  readonly tenantId: string;
  readonly task: string;
  readonly status: Status;
  readonly finishedAt: Timestamp;
  /** What it took when it was created; others may own some of it by now. */
  readonly identities: readonly Identity[];
};
/** `next` is null once every job has been looked at. */
export type Aged = { readonly jobs: readonly AgedJob[]; readonly next: string | null };

export type Purge = {
  /**
   * Those that have ended, and are still as their guard says, are deleted. A null guard says nothing. `place`: which job had taken the
   * place of this one when somebody looked, if anybody did; if it is another by now, the job stays.
   */
  readonly jobs: readonly {
    readonly jobId: string;
    readonly guard: PurgeGuard | null;
    readonly place?: string | null;
  }[];
  /** How long identities outlive their job's purge. */
  readonly identityTtlMs: number;
};
/** What of a finished job may still grow, as whoever read it saw it: messages to it, and results of its effects. */
export type PurgeGuard = { readonly inboxRev: number; readonly effects: number; readonly results: number };
export type Purged = { readonly jobs: number; readonly identities: number };

/** What is left of a job without its row. */
export type Stray = {
  /** The job's id. Where nothing that is left tells it, the place of its log, such as `log.job=17`. */
  readonly jobId: string;
  /** What its log still has; null: nothing, and only the list of jobs by the time of their creation names it. */
  readonly revs: { readonly first: number; readonly last: number } | null;
};
