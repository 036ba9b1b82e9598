import { PawlError } from '../errors.js';
import {
  attemptOf,
  PAUSE_PREFIX,
  SIGNAL_KEY,
  stepKey,
  type Accepted,
  type Rejected,
  type StepRef,
} from '../kernel/index.js';
import type { Engine } from '../engine/engine.js';
import type { Inherited } from '../engine/inherited.js';
import { rejectionError } from '../engine/rejection-error.js';
import { backoffMs } from '../engine/repeat.js';
import type { Tracing } from '../ports/tracing.js';
import type { Attempt } from './attempt.js';
import type { Answer, GiveOptions, HeldCommand } from './held-command.js';
import type { Hooks } from './hooks.js';
import { never } from './never.js';
import type { Replay } from './replay.js';
import { StepUses, type Counts, type StepKind } from './step-uses.js';
import { Waits } from './waits.js';

/** What the worker lends to an execution. */
export type Surroundings = {
  readonly engine: Engine;
  /** Is the lease still good, counted from the sending of its last confirmed renewal? */
  readonly holdsLease: () => boolean;
  readonly leaseMs: number;
  /** Bodies of effects that run in this process, whatever became of their attempts. */
  readonly bodies: Set<string>;
  readonly hooks: Hooks;
  /** Null: nobody traces. */
  readonly tracing: Tracing | null;
};

const NOTHING_COUNTED: Counts = {};

/** One run of a handler: which steps it has asked for, what it is doing, and what it waits for. */
export class Execution {
  readonly engine: Engine;
  readonly attempt: Attempt;
  readonly replay: Replay;
  readonly around: Surroundings;
  /** Null for a job that goes on with no other's record, as nearly all do. */
  readonly inherited: Inherited | null;
  /** Made with the first step, or the first wait: the shortest handlers have none. */
  #uses: StepUses | null = null;
  #waits: Waits | null = null;
  #undos: Set<() => unknown> | null = null;
  #busy = 0;
  #returned = false;
  /** Told why the job cannot go on. */
  onGivenUp: ((error: PawlError) => void) | null = null;

  constructor(
    around: Surroundings,
    attempt: Attempt,
    { replay, inherited }: { readonly replay: Replay; readonly inherited: Inherited | null },
  ) {
    this.engine = around.engine;
    this.around = around;
    this.attempt = attempt;
    this.replay = replay;
    this.inherited = inherited;
    replay.listener = this;
  }

  get waits(): Waits {
    this.#waits ??= new Waits(this);
    return this.#waits;
  }

  /** Nothing runs: the handler is waiting, or is in code of its own between two steps. */
  get isIdle(): boolean {
    return this.#busy === 0 && !this.replay.isBusy && !this.#returned;
  }

  /** It waits for something, whatever else it does meanwhile. */
  get isWaiting(): boolean {
    return this.#waits?.isWaiting ?? false;
  }

  get hasStepped(): boolean {
    return this.#uses !== null;
  }

  /** Every result that was asked for has been handed out. */
  handedOut(): void {
    this.#waits?.considerSuspending();
  }

  /** The handler has returned or thrown: nothing suspends it any more. */
  handlerReturned(): void {
    this.#returned = true;
  }

  /** Begins a step. Whoever does ends it too, before the handler hears of it. */
  begin(step: string, kind: StepKind): StepRef {
    this.#uses ??= new StepUses(this.#counts(this.attempt.steps.checkpoint?.occurrences ?? NOTHING_COUNTED));
    return this.#uses.begin(step, kind);
  }

  end(ref: StepRef): void {
    this.#uses?.end(ref);
  }

  /** A step that has begun and not ended. */
  findOpen(): string | null {
    return this.#uses?.findOpen() ?? null;
  }

  /** Goes on from a checkpoint as whoever begins there will. */
  countFrom(counted: Counts): void {
    this.#uses?.countFrom(this.#counts(counted));
  }

  /** The job cannot go on. The handler hears nothing of it: whoever could catch that might take it for a failure of a step. */
  giveUp(error: PawlError): Promise<never> {
    this.onGivenUp?.(error);
    return never();
  }

  /** Where the job's own counts say nothing of a name, those of the jobs before it do. */
  #counts(own: Counts): Counts {
    const before = this.inherited?.checkpoint ?? null;
    if (before === null) return own;
    return Object.fromEntries([...Object.entries(before.occurrences), ...Object.entries(own)]);
  }

  /** While `work` goes on, the handler is not idle. What is there at once is not waited for. */
  during<T>(work: () => T | Promise<T>): T | Promise<T> {
    this.#busy += 1;
    let going: T | Promise<T>;
    try {
      going = work();
    } catch (error) {
      this.#rest();
      throw error;
    }
    if (isThenable(going)) return this.#afterwards(going);
    this.#rest();
    return going;
  }

  async #afterwards<T>(going: Promise<T>): Promise<T> {
    try {
      return await going;
    } finally {
      this.#rest();
    }
  }

  #rest(): void {
    this.#busy -= 1;
    this.#waits?.considerSuspending();
  }

  /** The answer to a command of this attempt; never settles if the attempt is over first. */
  ask(command: HeldCommand, options?: GiveOptions): Promise<Accepted | Rejected | 'moved'> {
    return new Promise((resolve) => {
      this.#busy += 1;
      this.attempt.give(command, options, (answer) => {
        this.#answered();
        if (!this.#leaves(answer)) resolve(answer.ok || answer.code !== 'MOVED' ? answer : 'moved');
      });
    });
  }

  /** The kernel has found that the handler asks for something else than its history has. */
  #leaves(answer: Answer): boolean {
    if (answer.ok || answer.code !== 'NONDETERMINISM') return false;
    const { step, recorded } = answer.details;
    void this.replay.leave(String(step), `history has a step of another kind there (${String(recorded)})`);
    return true;
  }

  /**
   * What else goes on may end in this very turn: the handler hears of that in the next, as it will in every replay. A step goes on from when
   * it is asked for, also between the end of its body and its record.
   */
  #answered(): void {
    this.#rest();
    const isAlone = this.#busy === 0 && !this.isWaiting && (this.#uses?.open ?? 0) <= 1;
    if (!isAlone) this.replay.takeTurn();
  }

  /** Reads from the store, through an outage if need be: that is no failure of the handler. */
  async read<T>(ask: () => Promise<T>): Promise<T> {
    return this.during(async () => {
      for (let failures = 1; ; failures++) {
        try {
          return await ask();
        } catch (error) {
          if (!(error instanceof PawlError && error.retryable)) throw error;
          if (this.attempt.isOver) return never();
          await this.#stay(backoffMs(this.engine, failures));
        }
      }
    });
  }

  /** For commands that cannot be refused unless the handler did something wrong. */
  give(command: HeldCommand, options?: GiveOptions): Promise<Accepted> {
    return new Promise((done, refused) => this.order(command, { done, refused }, options));
  }

  /** The same without a promise. */
  order(
    command: HeldCommand,
    { done, refused }: { done: (answer: Accepted) => void; refused: (error: Error) => void },
    options?: GiveOptions,
  ): void {
    this.#busy += 1;
    this.attempt.give(command, options, (answer) => {
      this.#answered();
      if (answer.ok) done(answer);
      else if (this.#leaves(answer)) return;
      else if (answer.code === 'MOVED') refused(new Error(`${command.type} does not look at what may move`));
      else refused(rejectionError(answer, `do '${command.type}' in job ${this.attempt.job.spec.jobId}`));
    });
  }

  /** Has `undo` called when the attempt ends, unless what is returned is called before. */
  undoAtEnd(undo: () => unknown): () => void {
    const undos = (this.#undos ??= this.#undosAtEnd());
    undos.add(undo);
    return () => void undos.delete(undo);
  }

  /** One for all: what each of them hangs on to would be kept for as long as the attempt lasts. */
  #undosAtEnd(): Set<() => unknown> {
    const undos = new Set<() => unknown>();
    void this.attempt.ended.then(() => {
      for (const undo of undos) undo();
    });
    return undos;
  }

  /** The number of the job's attempt, from 1. */
  get attemptNumber(): number {
    return attemptOf(this.attempt.job);
  }

  /** Until the store's clock shows `at`: a short while in place, a long one as a durable timer without a lease. */
  async pauseUntil(at: number, label: string): Promise<void> {
    // In a replay the first of these timers have long run out: another is taken until the time has come.
    for (let leftMs = at - this.engine.now(); leftMs > 0; leftMs = at - this.engine.now()) {
      if (leftMs <= IN_PLACE_MS) await this.during(() => this.#stay(leftMs));
      else await this.#sleepUntil(at, label);
    }
  }

  #stay(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.engine.alarms.set(ms, resolve);
    });
  }

  async #sleepUntil(expiresAt: number, label: string): Promise<void> {
    const ref = this.begin(`${PAUSE_PREFIX}${label}`, 'pause');
    const key = `timer:${stepKey(ref)}`;
    const ended = this.waits.wait({ ...ref, key, kind: 'timer', reason: null, expiresAt });
    await ended.finally(() => this.end(ref));
  }
}

/** Pauses up to this long keep the lease: giving it up and claiming the job again costs about as much. */
const IN_PLACE_MS = 1_000;

export function checkSignalKey(key: string): void {
  if (typeof key === 'string' && SIGNAL_KEY.test(key)) return;
  throw new PawlError('INVALID_SIGNAL_KEY', {
    detail: `${JSON.stringify(key)} is no key of a signal`,
    details: { key },
  });
}

/** Something to wait for, whoever made it: handlers may return promises of their own making. */
export function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  const holds = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return holds && 'then' in value && typeof value.then === 'function';
}
