import { attemptOf, type Failure, type RetryPolicy, type StepRef } from '../kernel/index.js';
import type { Duration } from '../engine/duration.js';
import { toMs } from '../engine/duration.js';
import { failureOf } from '../engine/failure-of.js';
import { toJsonText } from '../engine/json-text.js';
import { readRetry } from '../engine/retry-options.js';
import { runBody } from './body.js';
import type { BodyContext } from './body-context.js';
import { isThenable, type Execution } from './execution.js';
import { never } from './never.js';
import type { StepKind } from './step-uses.js';

export type StepOptions = {
  /** Bounds one try. */
  readonly timeout?: Duration;
  /** Tries of this step alone, before its failure reaches the handler. */
  readonly retry?: Partial<RetryPolicy>;
};

export const NO_RETRY: RetryPolicy = { maxRetries: 0, baseMs: 0, maxBackoffMs: 0, jitterMs: 0 };
const STEP_RETRY: RetryPolicy = { maxRetries: 3, baseMs: 200, maxBackoffMs: 30_000, jitterMs: 100 };

/** An error that a step failed with earlier in this attempt, as the handler sees it again. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly code: string;
  readonly retryable: boolean;

  constructor({ code, message, retryable }: Failure) {
    super(message);
    this.code = code;
    this.retryable = retryable;
  }
}

/** Runs a body until its result is recorded, then never again. */
export async function runStep(
  execution: Execution,
  { name, kind = 'run' }: { name: string; kind?: StepKind },
  body: (context: BodyContext) => unknown,
  options: StepOptions = {},
): Promise<unknown> {
  if (execution.attempt.isOver) return never();
  const ref = execution.begin(name, kind);
  try {
    if (!isNew(execution, ref)) {
      const recorded = await recordOf(execution, ref);
      if (recorded !== null) return JSON.parse(recorded.output) as unknown;
    }

    const { spec } = execution.attempt.job;
    const timeoutMs = options.timeout === undefined ? spec.stepTimeoutMs : toMs(options.timeout, 'timeout');
    // Looked at before the body runs: a failure that is counted by no policy could not be recorded.
    const retry = options.retry
      ? readRetry(options.retry, { defaults: STEP_RETRY, whose: `step '${name}'` })
      : NO_RETRY;
    for (;;) {
      const startedAt = execution.engine.now();
      try {
        const going = execution.during(() => runBody(execution, { what: `step '${name}'`, timeoutMs }, body));
        const result = isThenable(going) ? await going : going;
        const output = toJsonText(result, `the result of step '${name}'`);
        const { step, occurrence } = ref;
        await execution.give({ type: 'record-step', step, occurrence, startedAt, output });
        return JSON.parse(output) as unknown;
      } catch (error) {
        const nextTryAt = await failTry(execution, ref, { startedAt, error, retry });
        if (nextTryAt === null) throw error;
        await execution.pauseUntil(nextTryAt, name);
      }
    }
  } finally {
    execution.end(ref);
  }
}

/** Nothing is known of it, and nothing that is has yet to come. */
function isNew({ attempt, replay, inherited }: Execution, ref: StepRef): boolean {
  return inherited === null && replay.isCaughtUp && attempt.steps.get(ref) === undefined;
}

/** The recorded result; null if the body is to be run. A failure that is final for this attempt is thrown again. */
export async function recordOf(execution: Execution, ref: StepRef): Promise<{ output: string } | null> {
  const { attempt, replay, inherited } = execution;
  const known = attempt.steps.get(ref);
  if (known !== undefined && known.kind !== 'run') {
    return replay.leave(ref, `history has a step of another kind there (${known.kind})`);
  }
  const entered = known === undefined ? inherited?.entries(ref)[0] : undefined;
  if (entered && entered.effect.state !== 'closed')
    return replay.leave(ref, `job ${entered.jobId} has entered an effect there`);
  if (known !== undefined && known.output !== null) {
    await replay.deliver(ref);
    return { output: known.output };
  }
  if (known?.failure && known.failedInAttempt === attemptOf(attempt.job)) {
    if (known.nextTryAt === null) {
      await replay.deliverFailure(ref);
      throw new StepError(known.failure);
    }
    await execution.pauseUntil(known.nextTryAt, ref.step);
  }
  await execution.during(() => replay.caughtUp(ref));
  return null;
}

/** When the step is tried again; null if it has given up. */
export async function failTry(
  execution: Execution,
  ref: StepRef,
  { startedAt, error, retry }: { startedAt: number; error: unknown; retry: RetryPolicy },
): Promise<number | null> {
  const failure = failureOf(error);
  const { events } = await execution.give({ type: 'fail-step', ...ref, startedAt, failure, retry });
  const [failed] = events;
  return failed?.type === 'step.failed' ? failed.nextTryAt : null;
}
