import { PawlError } from '../errors.js';
import { stepKey, type Checkpoint, type StepRef, type Wait } from '../kernel/index.js';
import { toMs, type Duration } from '../engine/duration.js';
import { toJsonText } from '../engine/json-text.js';
import { newUuid } from '../engine/new-job.js';
import { callStep, type CallOptions } from './call-step.js';
import { effectStep } from './effect-step.js';
import { checkSignalKey, type Execution } from './execution.js';
import { never } from './never.js';
import { runStep, type StepOptions } from './run-step.js';
import { calledTask, enteredEffect, expectBody, expectRun, expectWait } from './step-options.js';
import { timeOf } from './time-of.js';
import { transactionStep } from './transaction-step.js';
import type { Steps, WaitOptions } from './steps.js';

/** 2^32 steps between 0 and 1. */
const FINENESS = 2 ** 32;

type Called = Parameters<Steps['call']>;

/**
 * The steps of one run of a handler. Each is a function by itself, made when it is asked for: a handler may take it out and pass it
 * on, and most ask for one or two of them.
 */
class StepApi {
  readonly #execution: Execution;
  readonly #skipCheckpoints: readonly Checkpoint[];
  #checkpoints = 0;

  constructor(execution: Execution, skipCheckpoints: readonly Checkpoint[]) {
    this.#execution = execution;
    this.#skipCheckpoints = skipCheckpoints;
  }

  get run() {
    return (name: string, body: Parameters<Steps['run']>[1], options?: StepOptions) => {
      expectRun(name, body, options);
      return runStep(this.#execution, { name }, body, options);
    };
  }

  get effect() {
    return (name: string, effect: Parameters<Steps['effect']>[1], input: unknown) =>
      effectStep(this.#execution, name, enteredEffect(name, effect), input);
  }

  get transaction() {
    return (name: string, body: Parameters<Steps['transaction']>[1]) => {
      expectBody(name, body);
      return transactionStep(this.#execution, name, body);
    };
  }

  get sleep() {
    return async (name: string, duration: Duration) =>
      this.#sleepUntil(name, this.#after(duration, `the sleep '${name}'`));
  }

  get sleepUntil() {
    return (name: string, at: Date | number) => this.#sleepUntil(name, at);
  }

  get waitFor() {
    return async (key: string, options: WaitOptions = {}) => {
      checkSignalKey(key);
      expectWait(key, options);
      const { timeout, reason, kind = 'signal' } = options;
      const expiresAt = timeout === undefined ? null : this.#after(timeout, 'timeout');
      return this.#wait({ step: key, key, kind, reason: reason ?? null, expiresAt }, 'wait');
    };
  }

  get call() {
    return (name: string, task: Called[1], input: unknown, options: CallOptions = {}) =>
      callStep(this.#execution, name, calledTask(name, task, options), { input, options });
  }

  get now() {
    return () => this.#value('$now', () => this.#execution.engine.now());
  }

  get random() {
    return () => this.#value('$random', () => this.#execution.engine.random.int(FINENESS) / FINENESS);
  }

  get uuid() {
    return () => this.#value('$uuid', () => newUuid(this.#execution.engine));
  }

  get resume() {
    return (initial: unknown) => {
      const { attempt, inherited, hasStepped } = this.#execution;
      if (hasStepped) {
        throw new PawlError('CHECKPOINT_MISPLACED', { detail: 'step.resume() came after another step' });
      }
      const saved = attempt.steps.checkpoint ?? inherited?.checkpoint;
      return JSON.parse(saved?.state ?? toJsonText(initial, 'the initial state of the loop')) as unknown;
    };
  }

  get checkpoint() {
    return async (state: unknown): Promise<void> => {
      const execution = this.#execution;
      if (execution.attempt.isOver) await never();
      this.#checkpoints += 1;
      // A replay from the very beginning comes by checkpoints that were saved long ago.
      const skipped = this.#skipCheckpoints[this.#checkpoints - 1];
      if (skipped !== undefined) {
        execution.countFrom(skipped.occurrences);
        return;
      }
      const text = toJsonText(state, 'the state of a checkpoint');
      expectNoneOpen(execution);
      const behind = untilCaughtUp(execution);
      if (behind) {
        await behind;
        expectNoneOpen(execution);
      }
      const { events } = await execution.give({ type: 'save-checkpoint', state: text });
      for (const event of events)
        if (event.type === 'checkpoint.saved') execution.countFrom(event.occurrences);
    };
  }

  /** Recorded like a step of its own, under a name that handlers may not use. */
  #value(name: string, draw: () => unknown): Promise<unknown> {
    return runStep(this.#execution, { name, kind: 'value' }, draw);
  }

  async #wait(asked: Omit<Wait, 'occurrence'>, kind: 'sleep' | 'wait'): Promise<unknown> {
    const execution = this.#execution;
    if (execution.attempt.isOver) return never();
    const ref = execution.begin(asked.step, kind);
    try {
      const key = kind === 'sleep' ? `timer:${stepKey(ref)}` : asked.key;
      // What a job before has slept of it need not be slept again.
      const begun = kind === 'sleep' ? (execution.inherited?.sleepsUntil(ref) ?? null) : null;
      const expiresAt = begun ?? asked.expiresAt;
      const { outcome, payload } = await execution.waits.wait({ ...asked, ...ref, key, expiresAt });
      return outcome === 'received' ? (JSON.parse(payload ?? 'null') as unknown) : undefined;
    } finally {
      execution.end(ref);
    }
  }

  async #sleepUntil(step: string, at: Date | number): Promise<void> {
    const expiresAt = timeOf(at, `the end of the sleep '${step}'`);
    await this.#wait({ step, key: '', kind: 'timer', reason: null, expiresAt }, 'sleep');
  }

  #after(duration: Duration, what: string): number {
    return timeOf(this.#execution.engine.now() + toMs(duration, what), `the end of ${what}`);
  }
}

export function stepApi(
  execution: Execution,
  { skipCheckpoints }: { skipCheckpoints: readonly Checkpoint[] },
): Steps {
  return new StepApi(execution, skipCheckpoints) as unknown as Steps;
}

/** No step has this name. */
const CHECKPOINT: StepRef = { step: '$checkpoint', occurrence: 1 };

/**
 * It cuts off what was recorded before it: a handler that has not come by all of that would lose the rest. One that the kernel will refuse
 * cuts off nothing, and the handler may go on from that to what is recorded.
 */
function untilCaughtUp(execution: Execution): Promise<void> | void {
  const { attempt, replay } = execution;
  if (replay.isCaughtUp || attempt.steps.findPending() !== null) return;
  return execution.during(() => replay.caughtUp(CHECKPOINT));
}

/** The kernel refuses what is open in the log. What is not in the log yet would get there behind the checkpoint, uncounted. */
function expectNoneOpen(execution: Execution): void {
  const step = execution.findOpen();
  if (step === null) return;
  throw new PawlError('CHECKPOINT_UNSETTLED', {
    detail: `a checkpoint was asked for while step '${step}' had begun and not ended`,
    details: { step },
  });
}
