import { PawlError } from '../errors.js';
import { stepKey, type Commit, type Job, type StepRef } from '../kernel/index.js';
import type { Alarms } from '../engine/alarms.js';
import { never } from './never.js';
import { NOTHING, recordedIn, type Placed } from './recorded.js';
import { Turns } from './turns.js';

/**
 * How long a handler that has not come by a recorded step yet may take to do so, before it asks for something new.
 * It is never waited for unless the two differ. Shorter would mistake slow code between steps for changed code. Waited for
 * bit by bit: a process that stands still for long has slept through one of them, not through all.
 */
const GRACE_BITS = 5;
const GRACE_BIT_MS = 1_000;
/** The same for one that has returned: nothing new can begin from then on, and a branch that nobody waits for may be slow. */
const RETURNED_GRACE_BITS = 60;

const NOT_FORGIVEN: ReadonlySet<string> = new Set();
/** Of a job that has recorded nothing. Only what is in it is ever taken out. */
const NONE_AHEAD: Placed[] = [];

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
  /** Those of them that touch the world outside. */
  readonly #begun: ReadonlySet<string>;
  #begunLeft: number;
  /** The same of what the handler need not ask for: values, and steps that have failed. */
  readonly #optional: Set<string>;
  /** Effects of this attempt of which even `reconcile` could not tell. */
  readonly #untold: ReadonlySet<string>;
  /** An earlier attempt may have gone another way: after its failure nothing says that this one must follow. */
  readonly #strict: boolean;
  /** What is another job's, whose handler was mended since: where it is not followed, it is waited for and then let be. */
  readonly #forgivable: ReadonlySet<string>;
  /** What the handler has to ask for before anything behind it is handed out. What is at the front may have been asked for. */
  #ahead: Placed[];
  /** Made with the first that has to wait for its turn: most jobs are run once, and have none. */
  #turns: Turns | null = null;
  /** Ends the wait for the first of them, if something is held back for it. */
  #endHold: (() => void) | null = null;
  /** The place of what ends next, behind all that is recorded. */
  #next: number;
  /** Those who wait until nothing is unvisited; and until nothing is that has begun outside. */
  #caughtUp: (() => void)[] | null = null;
  #pastAllBegun: (() => void)[] | null = null;
  #hasLeft = false;
  /** Told why the handler has left its recorded path, once. */
  onLeft: ((error: PawlError) => void) | null = null;
  /** Told when every result that was asked for has been handed out. */
  listener: { handedOut(): void } | null = null;

  constructor(
    alarms: Alarms,
    job: Job,
    commits: readonly Commit[],
    forgivable: ReadonlySet<string> = NOT_FORGIVEN,
  ) {
    this.#alarms = alarms;
    const recorded = commits.length === 0 ? NOTHING : recordedIn(commits);
    const { results, failures, unvisited, begun, optional, untold, ahead, size, aStepFailed } = recorded;
    this.#results = results;
    this.#failures = failures;
    this.#unvisited = unvisited;
    this.#begun = begun;
    this.#begunLeft = begun.size;
    this.#optional = optional;
    this.#untold = untold;
    this.#ahead = ahead.length === 0 ? NONE_AHEAD : ahead.toReversed();
    this.#next = size;
    this.#strict = job.retryCount === 0 && !aStepFailed;
    this.#forgivable = forgivable;
  }

  /** Results are being handed out. */
  get isBusy(): boolean {
    return this.#turns?.isBusy ?? false;
  }

  #ownTurns(): Turns {
    if (this.#turns === null) {
      this.#turns = new Turns((at) => this.#mayPass(at));
      this.#turns.onIdle = () => this.listener?.handedOut();
    }
    return this.#turns;
  }

  /** Until it is this result's turn. One that was recorded in this very attempt has no turn to wait for. */
  deliver(ref: StepRef): Promise<void> | void {
    return this.#deliverFrom(this.#results, ref);
  }

  /** The same for the failure that a step ended with in this attempt. */
  deliverFailure(ref: StepRef): Promise<void> | void {
    return this.#deliverFrom(this.#failures, ref);
  }

  /** It is recorded, in this attempt, that even `reconcile` could not tell whether an effect happened. */
  couldNotTell(ref: StepRef): boolean {
    return this.#untold.has(stepKey(ref));
  }

  /** All that is recorded has been handed out, and nothing else in this turn: what ends now may be told at once. */
  get #isFree(): boolean {
    return (this.#turns?.isFree ?? true) && this.#unvisited.size === 0 && this.#optional.size === 0;
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
    this.#ownTurns().wait(this.#next, hear, what);
    this.#next += 1;
  }

  /**
   * The same for what has no place in the log. What the handler makes of it may have one, before what is held back; but it must not
   * overtake what is not.
   */
  tellRefusal<T>(hear: (what: T) => void, what: T): void {
    if (this.#isFree) hear(what);
    else this.#ownTurns().waitUnplaced(() => hear(what));
  }

  /** The handler was told something that may race with what else goes on: nothing more before the next turn. */
  takeTurn(): void {
    this.#ownTurns().take();
  }

  /** The handler has come by every recorded step, or need not, and is on its recorded path. */
  get isCaughtUp(): boolean {
    return !this.#hasLeft && (!this.#strict || this.#unvisited.size === 0);
  }

  /** A handler that returns has come by all that it had begun in the world outside: else its result is one of another path. */
  get isPastAllBegun(): boolean {
    return !this.#hasLeft && (!this.#strict || this.#begunLeft === 0);
  }

  /**
   * The handler has left its path at a step: it is over there, and hears nothing of it. Whoever could catch that might take it for a
   * failure of the step, and go on to another.
   */
  leave(at: StepRef | string, problem: string): Promise<never> {
    if (!this.#hasLeft) {
      this.#hasLeft = true;
      const step = typeof at === 'string' ? at : stepKey(at);
      this.onLeft?.(
        new PawlError('NONDETERMINISM', {
          detail: `the handler does not follow its history at step '${step}': ${problem}`,
          details: { step },
        }),
      );
    }
    return never();
  }

  /**
   * Until the handler, which asks for a step that has no result, has come by every recorded one; before that nothing new may begin.
   * If it does not, it has left its path. Unless the step is known: then the handler is on it, and merely slow elsewhere.
   */
  caughtUp(asksFor: StepRef, { isKnown = false } = {}): Promise<void> | void {
    this.visit(asksFor);
    if (this.isCaughtUp) return;
    return this.#until((this.#caughtUp ??= []), GRACE_BITS, () => {
      const missed = this.#missedOf(this.#unvisited);
      if (missed === null) this.#forget();
      return isKnown || missed === null
        ? undefined
        : this.leave(asksFor, `history has '${missed}' there, which the handler did not ask for`);
    });
  }

  /** Until a handler that has returned has come by all that it had begun in the world outside. */
  pastAllBegun(): Promise<void> {
    const graceBits = this.#forgivable.size > 0 ? GRACE_BITS : RETURNED_GRACE_BITS;
    return this.#until((this.#pastAllBegun ??= []), graceBits, () => {
      const missed = this.#missedOf(this.#begun);
      if (missed === null) return this.#forget();
      return this.leave(missed, 'it returned without asking for that');
    });
  }

  /** What the handler has not asked for until now it need not ask for any more. */
  #forget(): void {
    for (const key of [...this.#unvisited, ...this.#optional]) this.#visit(key);
  }

  /** Until those who wait so are told, or it has taken too long. */
  #until(told: (() => void)[], graceBits: number, giveUp: () => Promise<void> | void): Promise<void> {
    if (this.#hasLeft) return never();
    return new Promise((resolve) => {
      const cancel = this.#afterGrace(graceBits, () => resolve(giveUp()));
      told.push(() => {
        cancel();
        resolve();
      });
    });
  }

  /** The first of these that the handler has not asked for, and has to. */
  #missedOf(steps: ReadonlySet<string>): string | null {
    for (const step of steps) if (this.#unvisited.has(step) && !this.#forgivable.has(step)) return step;
    return null;
  }

  #afterGrace(allBits: number, act: () => void): () => void {
    let cancel: () => void = () => undefined;
    const wait = (bits: number): void => {
      if (bits === 0) act();
      else cancel = this.#alarms.set(GRACE_BIT_MS, () => wait(bits - 1));
    };
    wait(allBits);
    return () => cancel();
  }

  /**
   * Not before the handler has asked for every result that was recorded before it: between two steps it may do something of its own, which
   * takes as long as it takes. If it never does, it has left its path, and nothing more is held back.
   */
  #mayPass(at: number): boolean {
    const first = this.#firstAhead();
    if (first === undefined || at < first.at) return true;
    this.#endHold ??= this.#afterGrace(GRACE_BITS, () => {
      this.#ahead = [];
      this.#endHold = null;
      this.#ownTurns().take();
    });
    return false;
  }

  #firstAhead(): Placed | undefined {
    let first = this.#ahead.at(-1);
    while (first !== undefined && !this.#unvisited.has(first.key) && !this.#optional.has(first.key)) {
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
    const wasOptional = this.#optional.delete(key);
    const wasUnvisited = this.#unvisited.delete(key);
    if (!wasOptional && !wasUnvisited) return;
    if (this.#endHold !== null) {
      this.#endHold();
      this.#endHold = null;
      this.#ownTurns().take();
    }
    if (wasUnvisited && this.#begun.has(key)) this.#begunLeft -= 1;
    if (this.#begunLeft === 0) tellAll(this.#pastAllBegun);
    if (this.#unvisited.size === 0) tellAll(this.#caughtUp);
  }

  #deliverFrom(places: ReadonlyMap<string, number>, ref: StepRef): Promise<void> | void {
    if (places.size === 0) return;
    const key = stepKey(ref);
    this.#visit(key);
    const at = places.get(key);
    if (at === undefined) return;
    return new Promise((resolve) => this.#ownTurns().wait(at, resolve, undefined));
  }
}

function tellAll(waiting: (() => void)[] | null): void {
  if (waiting !== null && waiting.length > 0) for (const tell of waiting.splice(0)) tell();
}
