import { PawlError } from '../errors.js';
import { stepKey, type Commit, type Job, type StepRef } from '../kernel/index.js';
import type { Alarms } from '../engine/alarms.js';
import { NOTHING, recordedIn, type Placed } from './recorded.js';
import { Turns } from './turns.js';

/**
 * How long a handler that has not come by a recorded step yet may take to do so, before it asks for something new.
 * It is never waited for unless the two differ. Shorter would mistake slow code between steps for changed code. Waited for
 * bit by bit: a process that stands still for long has slept through one of them, not through all.
 */
const GRACE_BITS = 5;
const GRACE_BIT_MS = 1_000;

/**
 * Hands recorded results and failures to the handler in the order in which they were recorded, one in each turn of the
 * event loop, and what ends only now after them: what raced then has the same winner now. Also notices a handler that has
 * left its recorded path.
 */
export class Replay {
  readonly #alarms: Alarms;
  /** Where each recorded result stands in the log. */
  readonly #results: ReadonlyMap<string, number>;
  /** Where each step last failed for good. Apart from the results: a step of a later attempt may have come to one since. */
  readonly #failures: ReadonlyMap<string, number>;
  /** Steps with a result, effects that were begun and children that were started, which the handler has not asked for yet. */
  readonly #unvisited: Set<string>;
  /** The same of what the handler need not ask for: values, and steps that have failed. */
  readonly #optional: Set<string>;
  /** An earlier attempt may have gone another way: after its failure nothing says that this one must follow. */
  readonly #strict: boolean;
  /** Results that the handler has to ask for before anything behind them is handed out. Those at the front may have been asked for. */
  #ahead: Placed[];
  readonly #turns = new Turns((at) => this.#mayPass(at));
  /** Ends the wait for the first of them, if something is held back for it. */
  #endHold: (() => void) | null = null;
  /** The place of what ends next, behind all that is recorded. */
  #next: number;
  #caughtUp: (() => void)[] = [];
  /** Why the handler has left its recorded path, if it has. */
  #left: PawlError | null = null;

  constructor(alarms: Alarms, job: Job, commits: readonly Commit[]) {
    this.#alarms = alarms;
    const recorded = commits.length === 0 ? NOTHING : recordedIn(commits);
    const { results, failures, unvisited, optional, ahead, size, aStepFailed } = recorded;
    this.#results = results;
    this.#failures = failures;
    this.#unvisited = unvisited;
    this.#optional = optional;
    this.#ahead = ahead.toReversed();
    this.#next = size;
    this.#strict = job.retryCount === 0 && !aStepFailed;
  }

  /** Called when every result that was asked for has been handed out. */
  set onIdle(onIdle: () => void) {
    this.#turns.onIdle = onIdle;
  }

  /** Results are being handed out. */
  get isBusy(): boolean {
    return this.#turns.isBusy;
  }

  /** Until it is this result's turn. One that was recorded in this very attempt has no turn to wait for. */
  deliver(ref: StepRef): Promise<void> | void {
    return this.#deliverFrom(this.#results, ref);
  }

  /** The same for the failure that a step ended with in this attempt. */
  deliverFailure(ref: StepRef): Promise<void> | void {
    return this.#deliverFrom(this.#failures, ref);
  }

  /** All that is recorded has been handed out, and nothing else in this turn: what ends now may be told at once. */
  get #isFree(): boolean {
    return this.#turns.isFree && this.#unvisited.size === 0 && this.#optional.size === 0;
  }

  /**
   * Tells of something that ended only now, behind every recorded result that the handler asks for: it may have ended before they
   * were handed out, and must not win a race in a replay that it had lost.
   */
  tell<T>(hear: (what: T) => void, what: T): void {
    if (this.#isFree) {
      hear(what);
      return;
    }
    this.#turns.wait(this.#next, hear, what);
    this.#next += 1;
  }

  /** The handler was told something that may race with what else goes on: nothing more before the next turn. */
  takeTurn(): void {
    this.#turns.take();
  }

  /** The handler has come by every recorded step, or need not, and is on its recorded path. */
  get isCaughtUp(): boolean {
    return this.#left === null && (!this.#strict || this.#unvisited.size === 0);
  }

  /** Why the handler has left its recorded path: then its end is none, even if it has caught what told it so. */
  get left(): PawlError | null {
    return this.#left;
  }

  /** The handler has left its path at a step. */
  leave(ref: StepRef, problem: string): PawlError {
    return this.#leave(stepKey(ref), problem);
  }

  /**
   * Until the handler, which asks for a step that has no result, has come by every recorded one; before that nothing new may begin.
   * If it does not, it has left its path. Unless the step is known: then the handler is on it, and merely slow elsewhere.
   */
  caughtUp(asksFor: StepRef, { isKnown = false } = {}): Promise<void> | void {
    this.visit(asksFor);
    if (this.isCaughtUp) return;
    return this.#untilCaughtUp((missed) =>
      isKnown
        ? null
        : this.leave(asksFor, `history has '${missed}' there, which the handler did not ask for`),
    );
  }

  /** The same for a handler that has returned: its result is one of another path if it never asks for the rest. */
  allAskedFor(): Promise<void> | void {
    if (this.isCaughtUp) return;
    return this.#untilCaughtUp((missed) => this.#leave(missed, 'it returned without asking for that'));
  }

  /** `meaning`: what it means that a recorded step was not come by in time; null: nothing. */
  #untilCaughtUp(meaning: (missed: string) => PawlError | null): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      if (this.#left !== null) {
        reject(this.#left);
        return;
      }
      const cancel = this.#afterGrace(() => {
        const [missed = ''] = this.#unvisited;
        const problem = meaning(missed);
        if (problem === null) resolve();
        else reject(problem);
      });
      this.#caughtUp.push(() => {
        cancel();
        resolve();
      });
    });
  }

  #afterGrace(act: () => void): () => void {
    let cancel: () => void = () => undefined;
    const wait = (bits: number): void => {
      if (bits === 0) act();
      else cancel = this.#alarms.set(GRACE_BIT_MS, () => wait(bits - 1));
    };
    wait(GRACE_BITS);
    return () => cancel();
  }

  /**
   * Not before the handler has asked for every result that was recorded before it: between two steps it may do something of its own, which
   * takes as long as it takes. If it never does, it has left its path, and nothing more is held back.
   */
  #mayPass(at: number): boolean {
    const first = this.#firstAhead();
    if (first === undefined || at < first.at) return true;
    this.#endHold ??= this.#afterGrace(() => {
      this.#ahead = [];
      this.#endHold = null;
      this.#turns.take();
    });
    return false;
  }

  #firstAhead(): Placed | undefined {
    let first = this.#ahead.at(-1);
    while (first !== undefined && !this.#unvisited.has(first.key)) {
      this.#ahead.pop();
      first = this.#ahead.at(-1);
    }
    return first;
  }

  /** The handler asks for this step. */
  visit(ref: StepRef): void {
    if (this.#unvisited.size > 0 || this.#optional.size > 0) this.#visit(stepKey(ref));
  }

  #visit(key: string): void {
    this.#optional.delete(key);
    if (!this.#unvisited.delete(key)) return;
    if (this.#endHold !== null) {
      this.#endHold();
      this.#endHold = null;
      this.#turns.take();
    }
    if (this.#unvisited.size > 0) return;
    for (const tell of this.#caughtUp) tell();
    this.#caughtUp = [];
  }

  #leave(step: string, problem: string): PawlError {
    this.#left ??= new PawlError('NONDETERMINISM', {
      detail: `the handler does not follow its history at step '${step}': ${problem}`,
      details: { step },
    });
    return this.#left;
  }

  #deliverFrom(places: ReadonlyMap<string, number>, ref: StepRef): Promise<void> | void {
    if (places.size === 0) return;
    const key = stepKey(ref);
    this.#visit(key);
    const at = places.get(key);
    if (at === undefined) return;
    return new Promise((resolve) => this.#turns.wait(at, resolve, undefined));
  }
}
