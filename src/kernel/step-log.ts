import type { Event } from './event.js';
import type { Failure } from './failure.js';
import { attemptOf, type Job } from './job.js';
import type { JsonText } from './payload.js';
import type { EffectStep, Step, WaitStep } from './step.js';
import { stepKey, type StepRef } from './step-ref.js';
import { InvariantViolation, must } from './invariant-violation.js';

export type Checkpoint = { readonly state: JsonText; readonly occurrences: Readonly<Record<string, number>> };

/** What a decision may ask about the steps of a job. */
export interface StepIndex {
  get(ref: StepRef): Step | undefined;
  /** The step that uses a correlation key, open or completed. */
  waitFor(key: string): WaitStep | undefined;
  /** The first step that has begun and not ended: an effect of unknown outcome, or an open wait. */
  findPending(): string | null;
  /** A step of this name came before the latest checkpoint. What it was may be known no more. */
  isBeforeCheckpoint(step: string): boolean;
  /** How far each name has been counted. */
  occurrences(): Readonly<Record<string, number>>;
}

/**
 * The steps of one job, folded from its events.
 *
 * The one mutable thing in the kernel, because a job may have ten thousand steps and each must cost the same.
 * Whoever replays a job owns its log; nothing is shared.
 */
export class StepLog implements StepIndex {
  /**
   * By name, then by occurrence, from 1: no key is put together for a look-up. Occurrences mostly come one after another;
   * then a sparse array costs a quarter of a Map (bench/kernel.ts). One may also be a billion, so an array is never
   * walked along its length.
   */
  readonly #steps = new Map<string, Step[]>();
  #size = 0;
  /** Made with the first wait: most jobs have none. */
  #waits: Map<string, WaitStep> | null = null;
  #checkpoint: Checkpoint | null = null;

  get({ step, occurrence }: StepRef): Step | undefined {
    return this.#steps.get(step)?.[occurrence - 1];
  }

  waitFor(key: string): WaitStep | undefined {
    return this.#waits?.get(key);
  }

  findPending(): string | null {
    for (const [step, occurrences] of this.#steps.entries()) {
      const pending = Object.entries(occurrences).find(([, found]) => isPending(found));
      if (pending) return stepKey({ step, occurrence: Number(pending[0]) + 1 });
    }
    return null;
  }

  isBeforeCheckpoint(step: string): boolean {
    return this.#checkpoint !== null && Object.hasOwn(this.#checkpoint.occurrences, step);
  }

  /** A step may have any name, `constructor` and `__proto__` among them. */
  occurrences(): Readonly<Record<string, number>> {
    const highest = new Map(Object.entries(this.#checkpoint?.occurrences ?? NOTHING_COUNTED));
    for (const [step, occurrences] of this.#steps.entries()) {
      highest.set(step, Math.max(highest.get(step) ?? 0, occurrences.length));
    }
    return Object.fromEntries(highest.entries());
  }

  get checkpoint(): Checkpoint | null {
    return this.#checkpoint;
  }

  get size(): number {
    return this.#size;
  }

  /** Every step with its key, grouped by name, in the order of occurrence. */
  entries(): [string, Step][] {
    const entries: [string, Step][] = [];
    for (const [step, occurrences] of this.#steps.entries()) {
      for (const [index, found] of Object.entries(occurrences))
        entries.push([stepKey({ step, occurrence: Number(index) + 1 }), found]);
    }
    return entries;
  }

  /** Takes in one event; `before` is the job as it stood just before it. */
  apply(before: Job | null, event: Event): void {
    if (before === null) return;
    switch (event.type) {
      case 'step.recorded':
        this.#put(event, {
          kind: 'run',
          output: event.output,
          tries: 0,
          failure: null,
          nextTryAt: null,
          failedInAttempt: null,
        });
        return;
      case 'step.failed':
        this.#put(event, {
          kind: 'run',
          output: null,
          tries: event.tries,
          failure: event.failure,
          nextTryAt: event.nextTryAt,
          failedInAttempt: attemptOf(before),
        });
        return;
      case 'effect.intended':
        this.#put(event, {
          kind: 'effect',
          input: event.input,
          tool: event.tool,
          effectKey: event.effectKey,
          entry: event.entry,
          state: 'open',
          attemptId: must(before.attemptId, 'a running job was claimed'),
          worker: must(before.worker, 'a running job has a holder'),
          intendedAt: event.at,
          result: null,
          failure: null,
          failedInAttempt: null,
        });
        return;
      case 'effect.recorded':
        this.#put(event, { ...this.#effect(event), state: 'committed', result: event.result });
        return;
      case 'effect.closed':
        this.#put(event, { ...this.#effect(event), state: 'closed', ...failedIn(before, event) });
        return;
      case 'effect.unknown':
        this.#put(event, { ...this.#effect(event), state: 'unknown', ...failedIn(before, event) });
        return;
      case 'effect.reconciled':
        this.#put(event, { ...this.#effect(event), state: STATE_AFTER[event.verdict], result: event.result });
        return;
      case 'wait.begun':
        for (const wait of event.waits)
          this.#putWait({ kind: 'wait', wait, child: null, outcome: null, payload: null });
        return;
      case 'wait.completed': {
        const child = this.waitFor(event.wait.key)?.child ?? null;
        this.#putWait({
          kind: 'wait',
          wait: event.wait,
          child,
          outcome: event.outcome,
          payload: event.payload,
        });
        return;
      }
      case 'child.started':
        this.#putWait({ kind: 'wait', wait: event.wait, child: event.child, outcome: null, payload: null });
        return;
      case 'checkpoint.saved':
        this.#checkpoint = { state: event.state, occurrences: event.occurrences };
        return;
      default:
        return;
    }
  }

  #effect(ref: StepRef): EffectStep {
    const step = this.get(ref);
    if (step?.kind !== 'effect') throw new InvariantViolation(`no effect was intended at ${stepKey(ref)}`);
    return step;
  }

  #put({ step, occurrence }: StepRef, put: Step): void {
    const occurrences = this.#steps.get(step);
    if (occurrences?.[occurrence - 1] === undefined) this.#size += 1;
    if (occurrences !== undefined) occurrences[occurrence - 1] = put;
    // Made with what it holds: an empty one that something is put into takes room for seventeen, and most names come once.
    else this.#steps.set(step, occurrence === 1 ? [put] : sparse(occurrence, put));
  }

  #putWait(step: WaitStep): void {
    this.#put(step.wait, step);
    this.#waits ??= new Map();
    this.#waits.set(step.wait.key, step);
  }
}

function sparse(occurrence: number, put: Step): Step[] {
  const occurrences: Step[] = [];
  occurrences[occurrence - 1] = put;
  return occurrences;
}

const NOTHING_COUNTED: Readonly<Record<string, number>> = {};

const STATE_AFTER = { happened: 'committed', notHappened: 'closed', cannotTell: 'unknown' } as const;

function isPending(step: Step): boolean {
  if (step.kind === 'effect') return step.state === 'open' || step.state === 'unknown';
  return step.kind === 'wait' && step.outcome === null;
}

function failedIn(
  job: Job,
  { failure }: { failure: Failure },
): Pick<EffectStep, 'failure' | 'failedInAttempt'> {
  return { failure, failedInAttempt: attemptOf(job) };
}

/** For a job that has none yet. */
export const NO_STEPS: StepIndex = new StepLog();
