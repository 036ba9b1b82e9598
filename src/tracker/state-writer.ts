import { hasEnded, newRun, utc, type RunPatch, type RunSnapshot } from '../contracts/index.js';
import { PawlError, type ErrorCode } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { RunStateStore } from '../ports/run-state-store.js';
import { answerWithin } from './answer-within.js';
import { PendingPatch } from './pending-patch.js';

export type WriterOptions = {
  readonly store: RunStateStore;
  readonly runId: string;
  readonly workflowName: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly throttleMs: number;
  /** Whether a run that is in the store already, with more in it than a new one, may be this one. */
  readonly resume: boolean;
  /** Asked for what else is to be written, when a write begins. */
  readonly fill: (pending: PendingPatch) => void;
  /** Told when all of that was saved, or the store has failed, with the version that is in the store then. */
  readonly onWritten: (version: number) => void;
};

/** How long to wait after a failed write: longer each time, so that a store that is down is not run over. */
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 10_000;

/** How often what is left is tried before whoever waits for it is told no: 42 seconds in all. */
const LAST_TRIES = 10;

/**
 * After a write nothing is written for this many times as long as it took, or as the throttle says: what changes meanwhile
 * shares the next one. So even a run of thousands of hosts, whose state is large, has most of its time for its work.
 */
const REST = 4;

/** How a store says that somebody else has written the run. */
const MOVED_ON: ReadonlySet<ErrorCode> = new Set([
  'VERSION_CONFLICT',
  'JOB_EXISTS',
  'INVALID_TRANSITION',
  'JOB_NOT_FOUND',
]);

/** A store that has not answered for this long has failed. If the write was made all the same, its version tells. */
const ANSWER_MS = 30_000;

/**
 * Writes what has changed about a run, one write at a time. What changes while one is under way shares the next. A store that
 * fails holds nothing up: what it did not take stays pending, and is tried again.
 */
export class StateWriter {
  readonly #options: WriterOptions;
  #pending = new PendingPatch();
  /** 0: the run is not in the store yet. */
  #version = 0;
  /** The run is in the store, and has not begun there. */
  #isQueued = false;
  #unsaved = false;
  #urgent = false;
  #writing = false;
  #failures = 0;
  #stopped = false;
  /** Set once another may go on with the run: told when that can begin. */
  #onLeft: (() => void) | null = null;
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** How long the last write took. */
  #costMs = 0;
  #cancelTimer: () => void = () => undefined;
  readonly #flushes: ((saved: boolean) => void)[] = [];

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  get pending(): PendingPatch {
    return this.#pending;
  }

  /** Puts the run into the store. An id that is taken is thrown; any other failure is logged, and tried again. */
  async create(): Promise<void> {
    try {
      await this.#create();
    } catch (error) {
      if (error instanceof PawlError && ['JOB_EXISTS', 'INVALID_OPTION'].includes(error.code)) throw error;
      this.#failed(error);
    }
  }

  /** The run in the store, if it can be read. One that cannot is found when it is written. */
  async find(): Promise<RunSnapshot | null> {
    try {
      return await this.#answer(() => this.#options.store.getRun(this.#options.runId));
    } catch (error) {
      this.#failed(error);
      return null;
    }
  }

  get hasFailed(): boolean {
    return this.#failures > 0;
  }

  /** Goes on with a run that is in the store. */
  adopt({ version, status }: RunSnapshot): void {
    this.#version = version;
    this.#isQueued = status === 'queued';
  }

  /** Something is pending. What is urgent waits for the rest after the last write, other things until the throttle has passed. */
  changed({ urgent }: { urgent: boolean }): void {
    this.#unsaved = true;
    this.#urgent ||= urgent;
    if (!this.#writing) this.#schedule();
  }

  /** Writes what is pending, at once. False: it could not be saved. */
  flush(): Promise<boolean> {
    if (this.#stopped) return Promise.resolve(!this.#unsaved);
    if (!this.#unsaved && !this.#writing) return Promise.resolve(true);
    return new Promise((resolve) => {
      this.#flushes.push(resolve);
      this.#urgent = true;
      if (!this.#writing) this.#schedule();
    });
  }

  /** Nothing is written any more. */
  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
    for (const answer of this.#flushes.splice(0)) answer(!this.#unsaved);
  }

  /**
   * Another may go on with the run: what is pending is written at once, but only on what this one has seen itself, and then
   * nothing any more. Answers when that is done, or when the store has failed: then it is tried again until another has written.
   */
  leave(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onLeft = resolve;
      if (!this.#writing) this.#goOn();
    });
  }

  #goOn(): void {
    const isLeft = this.#onLeft !== null && !this.#unsaved;
    if (isLeft) this.stop();
    else this.#schedule();
    if (isLeft || this.#stopped || this.#failures > 0) this.#onLeft?.();
  }

  #schedule(): void {
    this.#cancelTimer();
    if (!this.#unsaved || this.#stopped) return;
    const waitMs = this.#waitMs();
    if (waitMs === 0) void this.#write();
    else this.#cancelTimer = this.#options.clock.after(waitMs, () => void this.#write());
  }

  #waitMs(): number {
    const { clock, throttleMs } = this.#options;
    if (this.#failures > 0) return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
    if (this.#flushes.length > 0 || this.#onLeft !== null) return 0;
    const rest = this.#urgent ? Math.min(throttleMs, REST * this.#costMs) : throttleMs;
    return Math.max(0, rest - (clock.elapsed() - this.#writtenAt));
  }

  async #write(): Promise<void> {
    const { clock, runId, log, fill, onWritten } = this.#options;
    this.#writing = true;
    // What happens in the same moment shares the write.
    await Promise.resolve();
    const begun = clock.elapsed();
    fill(this.#pending);
    const taken = this.#pending;
    this.#pending = new PendingPatch();
    this.#unsaved = false;
    this.#urgent = false;
    let isUntold = false;
    try {
      if (this.#version === 0) await this.#create();
      const at = utc(clock.now());
      // A store that was down for the whole of the run missed its beginning, without which no end follows.
      const { status } = taken;
      if (this.#isQueued && status !== undefined && status !== 'canceled' && hasEnded(status)) {
        await this.#update({ run_id: runId, updated_at: at, status: 'running' });
      }
      await this.#update(taken.patch(runId, at));
      if (status !== undefined) this.#isQueued = false;
      if (this.#failures > 0) log.info('the state of a run is saved again', { runId });
      this.#failures = 0;
    } catch (error) {
      this.#pending.putBack(taken);
      this.#unsaved = true;
      this.#urgent = true;
      isUntold = await this.#refused(error);
    }
    this.#writtenAt = clock.elapsed();
    this.#costMs = this.#writtenAt - begun;
    this.#writing = false;
    if (!isUntold) onWritten(this.#version);
    this.#answerFlushes();
    this.#goOn();
  }

  async #update(patch: RunPatch): Promise<void> {
    this.#version = await this.#answer(() => this.#options.store.updateRun(patch, this.#version));
  }

  async #create(): Promise<void> {
    const { store, runId, workflowName, clock } = this.#options;
    const run = newRun({ run_id: runId, workflow_name: workflowName, at: utc(clock.now()) });
    await this.#answer(() => store.createRun(run));
    this.adopt(run);
  }

  /** Whether the change is not to be told yet: it is tried on what is in the store now, or is told by another. */
  async #refused(error: unknown): Promise<boolean> {
    const code = error instanceof PawlError ? error.code : null;
    if (this.#onLeft !== null && code !== null && MOVED_ON.has(code)) {
      this.stop();
      return true;
    }
    if (code === 'INVALID_TRANSITION' || code === 'JOB_NOT_FOUND') this.#give(error);
    if (code === 'VERSION_CONFLICT' || code === 'JOB_EXISTS') return this.#catchUp(error);
    if (!this.#stopped) this.#failed(error);
    return false;
  }

  /**
   * Patches say only what has changed, so after a conflict the same one applies to what is there now; unless the run was
   * ended meanwhile, which is final, or is another's.
   */
  async #catchUp(conflict: unknown): Promise<boolean> {
    const { store, runId, workflowName, resume } = this.#options;
    this.#failures += 1;
    try {
      const found = await this.#answer(() => store.getRun(runId));
      // What was found may be from the one that goes on with the run, and newer than what is pending here.
      if (this.#onLeft !== null) this.stop();
      else if (found === null) this.#give('it is gone');
      else if (hasEnded(found.status)) this.#give(`another has ended it as ${found.status}`);
      else if (
        this.#version === 0 &&
        !resume &&
        (found.version > 1 || found.workflow_name !== workflowName)
      ) {
        this.#give(conflict);
      } else this.adopt(found);
    } catch (error) {
      this.#failed(error);
    }
    return this.#onLeft !== null || !this.#stopped;
  }

  #answer<T>(ask: () => Promise<T>): Promise<T> {
    return answerWithin(this.#options.clock, { ms: ANSWER_MS, what: 'the store of run states' }, ask);
  }

  #failed(error: unknown): void {
    const { log, runId } = this.#options;
    this.#failures += 1;
    // Once for each time that it goes wrong, not for each try.
    if (this.#failures > 1) return;
    log.error('the state of a run could not be saved, and is tried again', { runId, error });
  }

  #give(error: unknown): void {
    const { log, runId } = this.#options;
    log.error('the state of a run is not kept any more', { runId, error });
    this.stop();
  }

  #answerFlushes(): void {
    if (this.#unsaved && this.#failures < LAST_TRIES) return;
    for (const answer of this.#flushes.splice(0)) answer(!this.#unsaved);
  }
}
