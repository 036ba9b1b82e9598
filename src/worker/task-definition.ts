import type { JsonText } from '../kernel/index.js';
import type { TaskSettings } from '../engine/new-job.js';
import type { Logger } from '../ports/logger.js';
import type { JobInfo } from './job-info.js';
import type { Steps } from './steps.js';

export type ReadInput = {
  /** What the handler gets: the value as the schema reads it. */
  readonly value: unknown;
  /** What is stored: the value as it was given. */
  readonly text: JsonText;
};

/** A task as the worker runs it. */
export type TaskDefinition = TaskSettings & {
  /** A promise of it if there is a schema. Throws INVALID_INPUT, with the path, for what does not fit. */
  readonly readInput: (input: unknown, what: string) => ReadInput | Promise<ReadInput>;
  /** What the handler gets, from what is stored. Throws likewise: the schema may have changed since. */
  readonly readStored: (text: JsonText, what: string) => unknown;
  /**
   * How many jobs with the same key run at once, and how many of one tenant's. The key is worked out when the job is started;
   * the empty one counts for the tenant only.
   */
  readonly concurrency: {
    readonly key: (input: unknown) => string | null;
    readonly limit: number | null;
    readonly perTenant: number | null;
  } | null;
  /** How many of its jobs are begun within a period, by all workers together; or how many of each tenant's. */
  readonly rate: { readonly limit: number; readonly perMs: number; readonly perTenant: boolean } | null;
  readonly run: (context: HandlerContext<unknown>) => unknown;
};

export type HandlerContext<I> = {
  readonly input: I;
  readonly step: Steps;
  readonly job: JobInfo;
  /** Fires when the attempt is over before the handler has returned. */
  readonly signal: AbortSignal;
  readonly log: Logger;
};
