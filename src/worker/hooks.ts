import type { Failure, Status } from '../kernel/index.js';
import type { Logger } from '../ports/logger.js';
import type { JobInfo } from './job-info.js';

/** How an attempt ended: where it left the job, or `lost` if somebody else decides that. */
export type AttemptOutcome = {
  readonly status: Status | 'lost';
  readonly failure: Failure | null;
  readonly durationMs: number;
};

/** What an application may listen to. Hooks see what happens in this process, and change nothing. */
export type Hooks = {
  readonly attemptStarted?: (job: JobInfo) => void;
  readonly attemptEnded?: (job: JobInfo, outcome: AttemptOutcome) => void;
  /** An effect turned out to have happened after it had been declared not to have. */
  readonly lateResult?: (late: { jobId: string; step: string; occurrence: number; entry: number }) => void;
};

/** Calls a hook. What it throws is its own affair. */
export function callHook(log: Logger, name: keyof Hooks, call: () => void): void {
  try {
    call();
  } catch (error) {
    log.error(`hook '${name}' threw`, { error });
  }
}
