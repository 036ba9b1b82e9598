import { PawlError } from '../errors.js';
import { stepKey, type Commit, type Event, type Job, type StepRef } from '../kernel/index.js';
import type { Alarms } from '../engine/alarms.js';

/**
 * How long a handler that has not come by a recorded step yet may take to do so, before it asks for something new.
 * It is never waited for unless the two differ. Shorter would mistake slow code between steps for changed code. Waited for
 * bit by bit: a process that stands still for long has slept through one of them, not through all.
 */
const GRACE_BITS = 5;
const GRACE_BIT_MS = 1_000;

/**
 * Hands recorded results and failures to the handler in the order in which they were recorded, one in each turn of the
 * event loop: what raced then has the same winner now. Also notices a handler that has left its recorded path.
 */
export class Replay {
  readonly #alarms: Alarms;
  /** Where each recorded result stands in the log. */
  readonly #results: ReadonlyMap<string, number>;
  /** Where each step last failed for good. Apart from the results: a step of a later attempt may have come to one since. */
  readonly #failures: ReadonlyMap<string, number>;
  /** Recorded results that the handler has not asked for. */
  readonly #unvisited: Set<string>;
  /** An earlier attempt may have gone another way: after its failure nothing says that this one must follow. */
  readonly #strict: boolean;
  readonly #waiting: { readonly at: number; readonly deliver: () => void }[] = [];
  #caughtUp: (() => void)[] = [];
  #scheduled = false;
  /** Called when every result that was asked for has been handed out. */
  onIdle: () => void = () => undefined;

  constructor(alarms: Alarms, job: Job, commits: readonly Commit[]) {
    this.#alarms = alarms;
    const recorded = commits.length === 0 ? NOTHING : recordedIn(commits);
    const { results, failures, unvisited, aStepFailed } = recorded;
    this.#results = results;
    this.#failures = failures;
    this.#unvisited = unvisited;
    this.#strict = job.retryCount === 0 && !aStepFailed;
  }

  /** Results are being handed out. */
  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** Until it is this result's turn. One that was recorded in this very attempt has no turn to wait for. */
  deliver(ref: StepRef): Promise<void> | void {
    const key = stepKey(ref);
    const at = this.#results.get(key);
    if (at === undefined) return;
    this.#unvisited.delete(key);
    if (this.#unvisited.size === 0) {
      for (const tell of this.#caughtUp) tell();
      this.#caughtUp = [];
    }
    return this.#turnOf(at);
  }

  /** The same for the failure that a step ended with in this attempt. */
  deliverFailure(ref: StepRef): Promise<void> | void {
    const at = this.#failures.get(stepKey(ref));
    return at === undefined ? undefined : this.#turnOf(at);
  }

  /** The handler has come by every recorded step, or need not. */
  get isCaughtUp(): boolean {
    return !this.#strict || this.#unvisited.size === 0;
  }

  /** Until the handler has come by every recorded step; before that nothing new may begin. */
  async caughtUp(asksFor: StepRef): Promise<void> {
    if (this.isCaughtUp) return;
    await new Promise<void>((resolve, reject) => {
      let cancel: () => void = () => undefined;
      const wait = (bits: number): void => {
        if (bits === 0) reject(this.#leftPath(asksFor));
        else cancel = this.#alarms.set(GRACE_BIT_MS, () => wait(bits - 1));
      };
      wait(GRACE_BITS);
      this.#caughtUp.push(() => {
        cancel();
        resolve();
      });
    });
  }

  /** Until the handler has every recorded result that it asks for: what ends only now must not overtake them. */
  async handedOut(asksFor: StepRef): Promise<void> {
    if (this.#results.size + this.#failures.size === 0) return;
    await this.caughtUp(asksFor);
    // With one result it may ask for the next, within the turn in which it got it.
    do await nextTurn();
    while (this.isBusy);
  }

  #leftPath(asksFor: StepRef): PawlError {
    const [missed = ''] = this.#unvisited;
    return nondeterminism(asksFor, `history has '${missed}' there, which the handler did not ask for`);
  }

  #turnOf(at: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ at, deliver: resolve });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      let first = 0;
      for (const [index, { at }] of this.#waiting.entries()) {
        if (at < (this.#waiting[first]?.at ?? 0)) first = index;
      }
      const [next] = this.#waiting.splice(first, 1);
      next?.deliver();
      if (this.isBusy) this.#schedule();
      else this.onIdle();
    });
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

type Recorded = {
  readonly results: ReadonlyMap<string, number>;
  readonly failures: ReadonlyMap<string, number>;
  readonly unvisited: Set<string>;
  readonly aStepFailed: boolean;
};

/** In the log of a job that is run for the first time. Nothing is ever added to it. */
const NOTHING: Recorded = {
  results: new Map(),
  failures: new Map(),
  unvisited: new Set(),
  aStepFailed: false,
};

function recordedIn(commits: readonly Commit[]): Recorded {
  const results = new Map<string, number>();
  const failures = new Map<string, number>();
  const unvisited = new Set<string>();
  const events = commits.flatMap((commit) => commit.events);
  for (const [at, event] of events.entries()) {
    const failed = failedBy(event);
    if (failed !== null) failures.set(stepKey(failed), at);
    const recorded = recordedBy(event);
    if (recorded === null) continue;
    const key = stepKey(recorded);
    results.set(key, at);
    if (!recorded.step.startsWith('$')) unvisited.add(key);
  }
  return { results, failures, unvisited, aStepFailed: events.some(({ type }) => type === 'step.failed') };
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
      return event;
    case 'effect.reconciled':
      return event.verdict === 'notHappened' ? event : null;
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
