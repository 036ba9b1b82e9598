import type { Event } from './event.js';
import { attemptOf, type Job } from './job.js';
import type { JsonText } from './payload.js';
import { stepKey, type EffectStep, type RunStep, type Step, type StepRef, type WaitStep } from './step.js';
import { InvariantViolation, must } from './invariant-violation.js';

export type Checkpoint = { readonly state: JsonText; readonly occurrences: Readonly<Record<string, number>> };

/** What a decision may ask about the steps of a job. */
export interface StepIndex {
  get(ref: StepRef): Step | undefined;
  /** The step that uses a correlation key, open or completed. */
  waitFor(key: string): WaitStep | undefined;
}

/**
 * The steps of one job, folded from its events.
 *
 * The one mutable thing in the kernel, because a job may have ten thousand steps and each must cost the same.
 * Whoever replays a job owns its log; nothing is shared.
 */
export class StepLog implements StepIndex {
  readonly #steps = new Map<string, Step>();
  readonly #waits = new Map<string, WaitStep>();
  #checkpoint: Checkpoint | null = null;

  get(ref: StepRef): Step | undefined {
    return this.#steps.get(stepKey(ref));
  }

  waitFor(key: string): WaitStep | undefined {
    return this.#waits.get(key);
  }

  get checkpoint(): Checkpoint | null {
    return this.#checkpoint;
  }

  get size(): number {
    return this.#steps.size;
  }

  entries(): IterableIterator<[string, Step]> {
    return this.#steps.entries();
  }

  /** Takes in one event; `before` is the job as it stood just before it. */
  apply(before: Job | null, event: Event): void {
    if (before === null) return;
    switch (event.type) {
      case 'step.recorded':
        this.#put(event, { ...this.#run(event), output: event.output, failure: null, nextTryAt: null });
        return;
      case 'step.failed':
        this.#put(event, {
          ...this.#run(event),
          tries: event.tries,
          failure: event.failure,
          nextTryAt: event.nextTryAt,
          failedInAttempt: attemptOf(before),
        });
        return;
      case 'effect.intended':
        this.#put(event, {
          kind: 'effect',
          tool: event.tool,
          effectKey: event.effectKey,
          entry: event.entry,
          state: 'open',
          attemptId: must(before.attemptId, 'a running job was claimed'),
          worker: must(before.worker, 'a running job has a holder'),
          intendedAt: event.at,
          result: null,
        });
        return;
      case 'effect.recorded':
        this.#put(event, { ...this.#effect(event), state: 'committed', result: event.result });
        return;
      case 'effect.closed':
        this.#put(event, { ...this.#effect(event), state: 'closed' });
        return;
      case 'effect.unknown':
        this.#put(event, { ...this.#effect(event), state: 'unknown' });
        return;
      case 'effect.reconciled':
        this.#put(event, { ...this.#effect(event), state: STATE_AFTER[event.verdict], result: event.result });
        return;
      case 'wait.begun':
        for (const wait of event.waits) this.#putWait({ kind: 'wait', wait, outcome: null, payload: null });
        return;
      case 'wait.completed':
        this.#putWait({ kind: 'wait', wait: event.wait, outcome: event.outcome, payload: event.payload });
        return;
      case 'checkpoint.saved':
        this.#checkpoint = { state: event.state, occurrences: event.occurrences };
        return;
      default:
        return;
    }
  }

  #run(ref: StepRef): RunStep {
    const step = this.get(ref);
    return step?.kind === 'run' ? step : NEW_RUN_STEP;
  }

  #effect(ref: StepRef): EffectStep {
    const step = this.get(ref);
    if (step?.kind !== 'effect') throw new InvariantViolation(`no effect was intended at ${stepKey(ref)}`);
    return step;
  }

  #put(ref: StepRef, step: Step): void {
    this.#steps.set(stepKey(ref), step);
  }

  #putWait(step: WaitStep): void {
    this.#put(step.wait, step);
    this.#waits.set(step.wait.key, step);
  }
}

const NEW_RUN_STEP: RunStep = {
  kind: 'run',
  tries: 0,
  output: null,
  failure: null,
  nextTryAt: null,
  failedInAttempt: null,
};

const STATE_AFTER = { happened: 'committed', notHappened: 'closed', cannotTell: 'unknown' } as const;
