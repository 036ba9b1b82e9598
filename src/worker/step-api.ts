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

/** The steps of one run of a handler. */
export function stepApi(
  execution: Execution,
  { skipCheckpoints }: { skipCheckpoints: readonly Checkpoint[] },
): Steps {
  const { engine, attempt } = execution;
  let checkpoints = 0;

  /** Recorded like a step of its own, under a name that handlers may not use. */
  const value = (name: string, draw: () => unknown) => runStep(execution, { name, kind: 'value' }, draw);

  async function wait(asked: Omit<Wait, 'occurrence'>, kind: 'sleep' | 'wait'): Promise<unknown> {
    if (attempt.isOver) return never();
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

  async function sleepUntil(step: string, at: Date | number): Promise<void> {
    const expiresAt = timeOf(at, `the end of the sleep '${step}'`);
    await wait({ step, key: '', kind: 'timer', reason: null, expiresAt }, 'sleep');
  }

  const after = (duration: Duration, what: string): number =>
    timeOf(engine.now() + toMs(duration, what), `the end of ${what}`);

  const api = {
    run(name: string, body: Parameters<Steps['run']>[1], options?: StepOptions) {
      expectRun(name, body, options);
      return runStep(execution, { name }, body, options);
    },
    effect: (name: string, effect: Parameters<Steps['effect']>[1], input: unknown) =>
      effectStep(execution, name, enteredEffect(name, effect), input),
    transaction(name: string, body: Parameters<Steps['transaction']>[1]) {
      expectBody(name, body);
      return transactionStep(execution, name, body);
    },
    sleep: async (name: string, duration: Duration) =>
      sleepUntil(name, after(duration, `the sleep '${name}'`)),
    sleepUntil,
    async waitFor(key: string, options: WaitOptions = {}) {
      checkSignalKey(key);
      expectWait(key, options);
      const { timeout, reason, kind = 'signal' } = options;
      const expiresAt = timeout === undefined ? null : after(timeout, 'timeout');
      return wait({ step: key, key, kind, reason: reason ?? null, expiresAt }, 'wait');
    },
    call: (name: string, task: Parameters<Steps['call']>[1], input: unknown, options: CallOptions = {}) =>
      callStep(execution, name, calledTask(name, task, options), { input, options }),
    now: () => value('$now', () => engine.now()),
    random: () => value('$random', () => engine.random.int(FINENESS) / FINENESS),
    uuid: () => value('$uuid', () => newUuid(engine)),
    resume(initial: unknown) {
      if (execution.hasStepped) {
        throw new PawlError('CHECKPOINT_MISPLACED', { detail: 'step.resume() came after another step' });
      }
      const saved = attempt.steps.checkpoint ?? execution.inherited?.checkpoint;
      return JSON.parse(saved?.state ?? toJsonText(initial, 'the initial state of the loop')) as unknown;
    },
    async checkpoint(state: unknown): Promise<void> {
      if (attempt.isOver) await never();
      checkpoints += 1;
      // A replay from the very beginning comes by checkpoints that were saved long ago.
      const skipped = skipCheckpoints[checkpoints - 1];
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
    },
  };
  return api as unknown as Steps;
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
