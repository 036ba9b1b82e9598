import { hasEnded, utc, type RunCallback, type RunState } from '../contracts/index.js';
import { PawlError } from '../errors.js';
import { BUCKETS, newJobId } from '../kernel/index.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Notifier } from '../ports/notifier.js';
import type { Random } from '../ports/random.js';
import type {
  ErrorSummary,
  HostOutput,
  HostProgress,
  HostResult,
  HostStart,
  Recorder,
  RunFinish,
  StepFinish,
  StepStart,
} from '../ports/recorder.js';
import type { RunStateStore } from '../ports/run-state-store.js';
import { NotifierQueue } from './notifier-queue.js';
import { OutputTail } from './output-tail.js';
import type { PendingPatch } from './pending-patch.js';
import { StateWriter } from './state-writer.js';

export type TrackerOptions = {
  readonly store: RunStateStore;
  readonly workflowName: string;
  /** Made here, unless the caller brings one. */
  readonly runId?: string;
  /** Goes on with the run if the store has it already and it has not ended. */
  readonly resume?: boolean;
  readonly notifier?: Notifier;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** How often output and progress are written at most. Changes of status never wait. */
  readonly throttleMs: number;
  readonly mostOutputBytes: number;
};

type Output = {
  readonly step: string;
  readonly host: string;
  readonly tail: OutputTail;
  /** Whether it has grown since it was last written. */
  isNew: boolean;
};

type Untold = Omit<RunCallback, 'run_id' | 'workflow_name' | 'version'>;

/**
 * Keeps the state of a run as it goes: a recorder that writes to a store of run states and tells a notifier. It never holds the
 * run up, and never fails it: a store or a notifier that fails is logged.
 */
export class RunTracker implements Recorder {
  readonly runId: string;
  readonly #options: TrackerOptions;
  readonly #writer: StateWriter;
  readonly #notifications: NotifierQueue | null;
  readonly #outputs = new Map<string, Output>();
  /** Changes that nobody was told of: those of the write under way, and those after it. */
  readonly #underWay: Untold[] = [];
  readonly #untold: Untold[] = [];
  #hasFinished = false;

  private constructor(runId: string, options: TrackerOptions) {
    const { store, workflowName, notifier, clock, log, throttleMs, resume = false } = options;
    this.runId = runId;
    this.#options = options;
    this.#notifications = notifier ? new NotifierQueue(notifier, { clock, log }) : null;
    this.#writer = new StateWriter({
      store,
      runId,
      workflowName,
      clock,
      log,
      throttleMs,
      resume,
      fill: (pending) => this.#fill(pending),
      onWritten: (version) => this.#tell(version),
    });
  }

  /** Puts the run into the store, and begins it. Throws JOB_EXISTS for an id that is taken, before anything has run. */
  static async begin(options: TrackerOptions): Promise<RunTracker> {
    const { clock, random, resume = false } = options;
    const made = (): string =>
      newJobId({ now: clock.now(), bucket: random.int(BUCKETS), draw: (below) => random.int(below) });
    const tracker = new RunTracker(options.runId ?? made(), options);
    const found = resume ? await tracker.#find() : null;
    if (found !== null) tracker.#writer.adopt(found);
    else if (!tracker.#writer.hasFailed) await tracker.#writer.create();
    if (found?.status !== 'running') tracker.#status('running', { started_at: tracker.#now() });
    return tracker;
  }

  stepStart({ step, message = null }: StepStart): void {
    this.#writer.pending.step(step, { status: 'running', started_at: this.#now(), message });
    this.#note({ status: 'running', step, host: null, error: null });
  }

  hostStart({ step, host }: HostStart): void {
    this.#writer.pending.host({ step, host }, { status: 'running', started_at: this.#now() });
    this.#note({ status: 'running', step, host, error: null });
  }

  output({ step, host, text }: HostOutput): void {
    if (text === '') return;
    const output = this.#outputOf(step, host);
    output.tail.append(text);
    output.isNew = true;
    this.#writer.changed({ urgent: false });
  }

  progress({ step, host, message }: HostProgress): void {
    if (host === null) this.#writer.pending.step(step, { message });
    else this.#writer.pending.host({ step, host }, { message });
    this.#writer.changed({ urgent: false });
  }

  hostResult({ step, host, status, message = null, error = null }: HostResult): void {
    this.#writer.pending.host({ step, host }, { status, message, finished_at: this.#now() });
    const output = this.#outputs.get(keyOf(step, host));
    if (output) putOutput(this.#writer.pending, output);
    this.#outputs.delete(keyOf(step, host));
    this.#fail(error);
    this.#note({ status, step, host, error });
  }

  stepFinish({ step, status, message = null, error = null }: StepFinish): void {
    this.#writer.pending.step(step, { status, message, finished_at: this.#now() });
    this.#fail(error);
    this.#note({ status, step, host: null, error });
  }

  runFinish({ status, message = null, error = null }: RunFinish): void {
    if (this.#hasFinished) return;
    this.#hasFinished = true;
    this.#fail(error);
    const interrupted = status === 'interrupted' ? { interrupted_reason: message } : {};
    this.#status(status, { message, finished_at: this.#now(), ...interrupted }, error);
  }

  /** Ends the run and waits until that is saved. False: it could not be, and the log says why. */
  async finish(end: RunFinish): Promise<boolean> {
    this.runFinish(end);
    const saved = await this.#writer.flush();
    if (!saved) this.#options.log.error('the end of a run could not be saved', { runId: this.runId });
    this.#writer.stop();
    return saved;
  }

  /** Writes what is pending. */
  flush(): Promise<boolean> {
    return this.#writer.flush();
  }

  /**
   * Ends this tracker, not the run, which another goes on with: writes what is pending, unless another has written since, and
   * nothing after that. Answers when the other can begin.
   */
  leave(): Promise<void> {
    return this.#writer.leave();
  }

  /** Once the notifier was told of everything, or given up on. The run itself never waits for this. */
  async notified(): Promise<void> {
    await this.#notifications?.drained();
  }

  async #find() {
    const found = await this.#writer.find();
    if (found !== null && hasEnded(found.status)) {
      throw new PawlError('INVALID_TRANSITION', {
        detail: `run ${this.runId} has ended as ${found.status}`,
        details: { from: found.status, to: 'running' },
      });
    }
    return found;
  }

  #status(status: RunState, changes: object, error: ErrorSummary | null = null): void {
    this.#writer.pending.run({ status, ...changes });
    this.#note({ status, step: null, host: null, error });
  }

  #fail(error: ErrorSummary | null): void {
    if (error !== null) this.#writer.pending.run({ last_error: error });
  }

  #note(change: Omit<Untold, 'timestamp'>): void {
    if (this.#notifications) this.#untold.push({ ...change, timestamp: this.#now() });
    this.#writer.changed({ urgent: true });
  }

  #fill(pending: PendingPatch): void {
    for (const output of this.#outputs.values()) putOutput(pending, output);
    this.#underWay.push(...this.#untold.splice(0));
  }

  /** A store that fails does not silence the notifier: it hears of the version that was last saved. */
  #tell(version: number): void {
    const { workflowName: workflow_name } = this.#options;
    for (const { status, step, host, timestamp, error } of this.#underWay.splice(0)) {
      this.#notifications?.push({
        run_id: this.runId,
        workflow_name,
        status,
        step,
        host,
        timestamp,
        error,
        version,
      });
    }
  }

  #outputOf(step: string, host: string): Output {
    const key = keyOf(step, host);
    let output = this.#outputs.get(key);
    if (output === undefined) {
      output = { step, host, tail: new OutputTail(this.#options.mostOutputBytes), isNew: true };
      this.#outputs.set(key, output);
    }
    return output;
  }

  #now(): string {
    return utc(this.#options.clock.now());
  }
}

function keyOf(step: string, host: string): string {
  return JSON.stringify([step, host]);
}

/** Worked out when it is written, not with every line that comes in. */
function putOutput(pending: PendingPatch, output: Output): void {
  if (!output.isNew) return;
  output.isNew = false;
  const { step, host, tail } = output;
  pending.host({ step, host }, { output: tail.text, output_truncated: tail.isTruncated });
}
