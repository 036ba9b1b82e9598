import { PawlError } from '../errors.js';
import { decidedEntry, stepKey, type Commit, type Event, type Job, type StepRef } from '../kernel/index.js';
import type { Alarms } from '../engine/alarms.js';
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

  /** The handler has come by every recorded step, or need not. */
  get isCaughtUp(): boolean {
    return !this.#strict || this.#unvisited.size === 0;
  }

  /**
   * Until the handler, which asks for a step that has no result, has come by every recorded one; before that nothing new may begin.
   * If it does not, it has left its path. Unless the step is known: then the handler is on it, and merely slow elsewhere.
   */
  caughtUp(asksFor: StepRef, { isKnown = false } = {}): Promise<void> | void {
    this.visit(asksFor);
    if (this.isCaughtUp) return;
    return new Promise<void>((resolve, reject) => {
      const cancel = this.#afterGrace(() => {
        if (isKnown) resolve();
        else reject(this.#leftPath(asksFor));
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

  #leftPath(asksFor: StepRef): PawlError {
    const [missed = ''] = this.#unvisited;
    return nondeterminism(asksFor, `history has '${missed}' there, which the handler did not ask for`);
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

/** A recorded result, and where it stands in the log. */
type Placed = { readonly key: string; readonly at: number };

type Recorded = {
  readonly results: ReadonlyMap<string, number>;
  readonly failures: ReadonlyMap<string, number>;
  readonly unvisited: Set<string>;
  readonly optional: Set<string>;
  /** Of the attempt that goes on: what one before it had recorded when it failed says nothing about the way of this one. */
  readonly ahead: readonly Placed[];
  /** How many events there are. */
  readonly size: number;
  readonly aStepFailed: boolean;
};

/** In the log of a job that is run for the first time. Nothing is ever added to it. */
const NOTHING: Recorded = {
  results: new Map(),
  failures: new Map(),
  unvisited: new Set(),
  optional: new Set(),
  ahead: [],
  size: 0,
  aStepFailed: false,
};

function recordedIn(commits: readonly Commit[]): Recorded {
  const results = new Map<string, number>();
  const failures = new Map<string, number>();
  const unvisited = new Set<string>();
  const optional = new Set<string>();
  let ahead: Placed[] = [];
  const events = commits.flatMap((commit) => commit.events);
  for (const [at, event] of events.entries()) {
    if (event.type === 'attempt.failed') ahead = [];
    const failed = failedBy(event);
    if (failed !== null) {
      failures.set(stepKey(failed), at);
      optional.add(stepKey(failed));
    }
    const begun = begunBy(event);
    if (begun !== null) unvisited.add(stepKey(begun));
    const recorded = recordedBy(event);
    if (recorded === null) continue;
    const key = stepKey(recorded);
    results.set(key, at);
    // Whether the engine has to pause, or to ask an operator, depends on when it is asked.
    if (!recorded.step.startsWith('$')) {
      unvisited.add(key);
      ahead.push({ key, at });
    } else if (event.type === 'step.recorded') optional.add(key);
  }
  const aStepFailed = events.some(({ type }) => type === 'step.failed');
  return { results, failures, unvisited, optional, ahead, size: events.length, aStepFailed };
}

/** The step that touches the world outside from this event on, if it is one: a handler that no longer asks for it has left its path. */
function begunBy(event: Event): StepRef | null {
  if (event.type === 'effect.intended') return event;
  return event.type === 'child.started' ? event.wait : null;
}

/** The step whose result the handler gets from this event, if it is one. */
function recordedBy(event: Event): StepRef | null {
  switch (event.type) {
    case 'step.recorded':
    case 'effect.recorded':
      return event;
    case 'effect.reconciled':
      return event.verdict === 'happened' ? event : null;
    case 'wait.completed':
      return event.wait;
    default:
      return null;
  }
}

/** The step whose failure the handler gets from this event, if it gets one. */
function failedBy(event: Event): StepRef | null {
  switch (event.type) {
    case 'step.failed':
      return event.nextTryAt === null ? event : null;
    case 'effect.closed':
    case 'effect.unknown':
      return event;
    case 'effect.reconciled':
      return event.verdict === 'notHappened' ? event : null;
    case 'wait.completed':
      // An operator's word that it stays unknown, unless the same commit says more.
      return decidedEntry(event.wait);
    default:
      return null;
  }
}

export function nondeterminism(ref: StepRef, problem: string): PawlError {
  const step = stepKey(ref);
  return new PawlError('NONDETERMINISM', {
    detail: `the handler does not follow its history at step '${step}': ${problem}`,
    details: { step },
  });
}
