import type { Checkpoint } from '../kernel/index.js';
import type { Logger } from '../ports/logger.js';
import type { Execution } from './execution.js';
import type { JobInfo } from './job-info.js';
import { stepApi } from './step-api.js';
import type { Steps } from './steps.js';
import type { HandlerContext } from './task-definition.js';

/** What a handler gets. Its steps and its signal are made when it asks for them: the shortest handlers never do. */
export class HeldJob implements HandlerContext<unknown> {
  readonly input: unknown;
  readonly job: JobInfo;
  readonly #execution: Execution;
  readonly #skipCheckpoints: readonly Checkpoint[];
  #step: Steps | null = null;

  constructor(
    execution: Execution,
    { input, job, skipCheckpoints }: { input: unknown; job: JobInfo; skipCheckpoints: readonly Checkpoint[] },
  ) {
    this.input = input;
    this.job = job;
    this.#execution = execution;
    this.#skipCheckpoints = skipCheckpoints;
  }

  get step(): Steps {
    this.#step ??= stepApi(this.#execution, { skipCheckpoints: this.#skipCheckpoints });
    return this.#step;
  }

  get signal(): AbortSignal {
    return this.#execution.attempt.signal;
  }

  get log(): Logger {
    return this.#execution.engine.log;
  }
}
