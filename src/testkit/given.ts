import { deepStrictEqual, fail, ok } from 'node:assert/strict';
import {
  decide,
  evolve,
  StepLog,
  type Command,
  type Decision,
  type Event,
  type EventType,
  type Job,
  type RejectionCode,
  type RejectionDetails,
} from '../kernel/index.js';

/** The fields of an event that a test cares about. */
export type ExpectedEvent = { readonly type: EventType } & Readonly<Record<string, unknown>>;

export interface Outcome {
  /** The command was accepted with exactly these events; of each, the fields that are named must be equal. */
  thenEvents(...expected: ExpectedEvent[]): Outcome;
  /** The command was refused with this code, and with these details if they are named. */
  thenRejected(code: RejectionCode, details?: RejectionDetails): Outcome;
  /** After the command the job has these fields. */
  thenJob(expected: Partial<Job>): Outcome;
  /** Gives the next command to the job as it now stands. */
  when(command: Command): Outcome;
  readonly decision: Decision;
  readonly job: Job | null;
}

/** A job with a past. `given()` without events is no job at all. */
export function given(...past: readonly (Event | readonly Event[])[]): Pick<Outcome, 'when' | 'job'> & {
  readonly steps: StepLog;
} {
  const steps = new StepLog();
  const job = advance(null, past.flat(), steps);
  return { job, steps, when: (command) => outcomeOf(job, command, steps) };
}

function outcomeOf(before: Job | null, command: Command, steps: StepLog): Outcome {
  const decision = decide(before, command, steps);
  const job = decision.ok ? advance(before, decision.events, steps) : before;
  const outcome: Outcome = {
    decision,
    job,
    when: (next) => outcomeOf(job, next, steps),
    thenEvents(...expected) {
      if (!decision.ok) {
        fail(`${command.type} was refused: ${decision.code} ${JSON.stringify(decision.details)}`);
      }
      const shown = decision.events.map((event, i) => pick(event, expected[i] ?? { type: event.type }));
      deepStrictEqual(shown, expected);
      return outcome;
    },
    thenRejected(code, details) {
      if (decision.ok) fail(`${command.type} was accepted: ${JSON.stringify(decision.events)}`);
      deepStrictEqual(
        { code: decision.code, details: details ? decision.details : undefined },
        { code, details },
      );
      return outcome;
    },
    thenJob(expected) {
      ok(job, 'there is no job');
      deepStrictEqual(pick(job, expected), expected);
      return outcome;
    },
  };
  return outcome;
}

/** Folds events into the job and its steps. Jobs are frozen, so that a decision cannot change one unnoticed. */
function advance(start: Job | null, events: readonly Event[], steps: StepLog): Job | null {
  let job = start;
  for (const event of events) {
    steps.apply(job, event);
    job = Object.freeze(evolve(job, event));
  }
  return job;
}

function pick(from: object, like: object): object {
  const source = from as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.keys(like).map((key) => [key, source[key]]));
}
