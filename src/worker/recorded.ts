import { decidedEntry, stepKey, type Commit, type Event, type StepRef } from '../kernel/index.js';

/** A step that the handler had asked for, and where the log shows it. */
export type Placed = { readonly key: string; readonly at: number };

/** What a replay goes by. */
export type Recorded = {
  readonly results: ReadonlyMap<string, number>;
  readonly failures: ReadonlyMap<string, number>;
  readonly unvisited: Set<string>;
  /** Those of them that touch the world outside. */
  readonly begun: ReadonlySet<string>;
  readonly optional: Set<string>;
  /** Effects of the attempt that goes on of which even `reconcile` could not tell whether they happened. */
  readonly untold: ReadonlySet<string>;
  /** Of the attempt that goes on: what one before it had recorded when it failed says nothing about the way of this one. */
  readonly ahead: readonly Placed[];
  /** How many events there are. */
  readonly size: number;
  readonly aStepFailed: boolean;
};

/** In the log of a job that is run for the first time. Nothing is ever added to it. */
export const NOTHING: Recorded = {
  results: new Map(),
  failures: new Map(),
  unvisited: new Set(),
  begun: new Set(),
  optional: new Set(),
  untold: new Set(),
  ahead: [],
  size: 0,
  aStepFailed: false,
};

export function recordedIn(commits: readonly Commit[]): Recorded {
  const results = new Map<string, number>();
  const failures = new Map<string, number>();
  const unvisited = new Set<string>();
  const begun = new Set<string>();
  const optional = new Set<string>();
  const untold = new Set<string>();
  let ahead: Placed[] = [];
  const events = commits.flatMap((commit) => commit.events);
  for (const [at, event] of events.entries()) {
    if (event.type === 'attempt.failed') {
      ahead = [];
      untold.clear();
    }
    if (event.type === 'effect.reconciled' && event.verdict === 'cannotTell') untold.add(stepKey(event));
    const failed = failedBy(event);
    if (failed !== null) {
      const key = stepKey(failed);
      failures.set(key, at);
      optional.add(key);
      ahead.push({ key, at });
    }
    const beginning = begunBy(event);
    if (beginning !== null) {
      const key = stepKey(beginning);
      begun.add(key);
      unvisited.add(key);
      ahead.push({ key, at });
    }
    const recorded = recordedBy(event);
    if (recorded === null) continue;
    const key = stepKey(recorded);
    results.set(key, at);
    // Whether the engine has to pause, or to ask an operator, depends on when it is asked.
    if (!recorded.step.startsWith('$')) unvisited.add(key);
    else if (event.type === 'step.recorded') optional.add(key);
    else continue;
    ahead.push({ key, at });
  }
  const aStepFailed = events.some(({ type }) => type === 'step.failed');
  return { results, failures, unvisited, begun, optional, untold, ahead, size: events.length, aStepFailed };
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
      return event.verdict === 'happened' ? null : event;
    case 'wait.completed':
      // An operator's word that it stays unknown, unless the same commit says more.
      return decidedEntry(event.wait);
    default:
      return null;
  }
}
