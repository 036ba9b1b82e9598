import { runState, type RunFilter, type RunSnapshot, type RunSummary } from '../contracts/index.js';
import { toMs, type Duration } from '../engine/duration.js';
import * as is from '../engine/option-checks.js';
import { Options } from '../engine/options.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Notifier } from '../ports/notifier.js';
import type { Random } from '../ports/random.js';
import type { RunFinish } from '../ports/recorder.js';
import type { RunStateStore } from '../ports/run-state-store.js';
import { endRun } from '../tracker/end-run.js';
import { markInterrupted, type InterruptOptions } from '../tracker/mark-interrupted.js';
import { MOST_OUTPUT_BYTES } from '../tracker/output-tail.js';
import { reconcileRun, type Finding } from '../tracker/reconcile-run.js';
import { getRunStatus } from '../tracker/run-status.js';
import { RunTracker } from '../tracker/run-tracker.js';
import { jsonLogger } from './console-logger.js';
import { logger } from './made-things.js';
import { isInMemory, openRunStates } from './open-run-states.js';
import { systemClock } from './system-clock.js';
import { systemRandom } from './system-random.js';

/** Often enough to look live, seldom enough for a store not to notice. */
const THROTTLE: Duration = '250ms';

export type RunStatesOptions = {
  /** A store of yours; or `memory:`, `file:` and a folder, `sqlite:` and a path, `postgres://…`. */
  readonly store: string | RunStateStore;
  /** Told of changes, beside the run. */
  readonly notifier?: Notifier;
  /** How often output and progress are written at most. Changes of status are always written. */
  readonly throttle?: Duration;
  /** What is kept of a host's output, in bytes. */
  readonly mostOutput?: number;
  readonly log?: Logger;
  /** For tests: where time and chance come from. */
  readonly clock?: Clock;
  readonly random?: Random;
};

export type TrackOptions = {
  readonly workflowName: string;
  /** Made by the tracker, unless it is given. */
  readonly runId?: string;
  /** Goes on with the run if it is there already and has not ended. */
  readonly resume?: boolean;
};

const RUN_STATES = new Options<RunStatesOptions>({
  store: is.required(is.elsewhere),
  notifier: is.elsewhere,
  throttle: is.duration,
  mostOutput: is.whole(0),
  log: logger,
  clock: is.object,
  random: is.object,
});
const TRACK = new Options<TrackOptions>({
  workflowName: is.required(is.text),
  runId: is.elsewhere,
  resume: is.flag,
});
const LIST = new Options<RunFilter>({
  status: is.oneOf(...runState.machine.states),
  workflow_name: is.text,
  before: is.text,
  limit: is.elsewhere,
});
const INTERRUPT = new Options<Pick<InterruptOptions, 'isAlive'>>({ isAlive: is.func });
const FINDING = new Options<Finding>({ outcome: is.elsewhere, reason: is.elsewhere, actor: is.elsewhere });
const END = new Options<RunFinish>({
  status: is.required(is.elsewhere),
  message: is.elsewhere,
  error: is.elsewhere,
});

type Parts = {
  readonly store: RunStateStore;
  readonly close: () => Promise<void>;
  readonly notifier: Notifier | undefined;
  readonly throttleMs: number;
  readonly mostOutputBytes: number;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
};

/** Opens the place where the states of runs are kept. */
export async function runStates(options: RunStatesOptions): Promise<RunStates> {
  RUN_STATES.expect(options, 'runStates()');
  const { store, notifier, throttle = THROTTLE, mostOutput: mostOutputBytes = MOST_OUTPUT_BYTES } = options;
  const { clock = systemClock, random = systemRandom() } = options;
  const log = options.log ?? jsonLogger({ level: 'warn', write: (line) => process.stderr.write(line) });
  const throttleMs = toMs(throttle, 'throttle');
  const common = { notifier, throttleMs, mostOutputBytes, log, clock, random };
  if (typeof store !== 'string') return new RunStates({ ...common, store, close: async () => undefined });
  if (isInMemory(store)) {
    log.warn('persistent storage is not enabled: runs are visible in this process only');
  }
  const opened = await openRunStates(store, { clock, log });
  return new RunStates({ ...common, store: opened, close: () => opened.close() });
}

/** The states of runs: tracked as they go, and asked for later. */
export class RunStates {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Puts a run into the store, and begins to track it. Throws JOB_EXISTS for an id that is taken. */
  async track(options: TrackOptions): Promise<RunTracker> {
    TRACK.expect(options, 'track()');
    const { notifier, ...parts } = this.#parts;
    return RunTracker.begin({ ...parts, ...options, ...(notifier ? { notifier } : {}) });
  }

  /** A run as it stands, with its latest error. Throws JOB_NOT_FOUND. */
  status(runId: string): Promise<RunSnapshot> {
    return getRunStatus(this.#parts.store, runId);
  }

  /** The same; null for a run that is not there. */
  find(runId: string): Promise<RunSnapshot | null> {
    return this.#parts.store.getRun(runId);
  }

  /** Ends a run from outside. Null: it had ended before. */
  async end(runId: string, end: RunFinish): Promise<RunSnapshot | null> {
    END.expect(end, 'end()');
    return endRun(this.#parts.store, runId, { ...end, clock: this.#parts.clock });
  }

  /** Summaries, last id first: of ids that Pawl made, these are the newest. */
  async list(filter: RunFilter = {}): Promise<RunSummary[]> {
    LIST.expect(filter, 'list()');
    return this.#parts.store.listRuns(filter);
  }

  /**
   * Archives runs that were running and will not go on, and answers with their ids. Without `isAlive` that is all of them: call
   * it before anything is tracked, or tell which are alive.
   */
  async markInterrupted(reason: string, options: Pick<InterruptOptions, 'isAlive'> = {}): Promise<string[]> {
    INTERRUPT.expect(options, 'markInterrupted()');
    const { isAlive } = options;
    return markInterrupted(this.#parts.store, reason, { ...this.#told(), ...(isAlive ? { isAlive } : {}) });
  }

  /** Records what was found out later about an interrupted run, which stays interrupted. */
  async reconcile(runId: string, finding: Finding): Promise<RunSnapshot> {
    FINDING.expect(finding, 'reconcile()');
    return reconcileRun(this.#parts.store, runId, finding, this.#told());
  }

  /** Lets go of the store, if it was opened here. */
  close(): Promise<void> {
    return this.#parts.close();
  }

  #told(): { clock: Clock; log: Logger; notifier?: Notifier } {
    const { clock, log, notifier } = this.#parts;
    return { clock, log, ...(notifier ? { notifier } : {}) };
  }
}
