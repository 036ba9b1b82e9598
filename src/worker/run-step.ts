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

type Body = (context: BodyContext) => unknown;

type Asked = { readonly body: Body; readonly options: StepOptions };

/** What becomes of a step, as its handler hears of it. */
type Outcome = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** Runs a body until its result is recorded, then never again. */
export function runStep(
  execution: Execution,
  { name, kind = 'run' }: { name: string; kind?: StepKind },
  body: Body,
  options: StepOptions = {},
): Promise<unknown> {
  if (execution.attempt.isOver) return never();
  return new Promise((resolve, reject) => {
    const ref = execution.begin(name, kind);
    new StepRun(execution, ref, { body, options }, { resolve, reject }).begin();
  });
}

/**
 * A step, from when the handler asks for it until it hears of it. Most wait for nothing but their record, and a job in flight is
 * mostly what its functions keep while they wait (decision 53): so none waits here but where a body fails, or there is a history.
 */
class StepRun {
  readonly #execution: Execution;
  readonly #ref: StepRef;
  readonly #asked: Asked;
  readonly #outcome: Outcome;
  #timeoutMs: number | null = null;
  #retry = NO_RETRY;
  #startedAt = 0;

  constructor(execution: Execution, ref: StepRef, asked: Asked, outcome: Outcome) {
    this.#execution = execution;
    this.#ref = ref;
    this.#asked = asked;
    this.#outcome = outcome;
  }

  begin(): void {
    if (isNew(this.#execution, this.#ref)) this.#start();
    else void this.#replay();
  }

  async #replay(): Promise<void> {
    try {
      const recorded = await recordOf(this.#execution, this.#ref);
      if (recorded === null) this.#start();
      else this.#succeed(recorded.output);
    } catch (error) {
      this.#fail(error);
    }
  }

  #start(): void {
    const { timeout, retry } = this.#asked.options;
    try {
      const { spec } = this.#execution.attempt.job;
      this.#timeoutMs = timeout === undefined ? spec.stepTimeoutMs : toMs(timeout, 'timeout');
      // Looked at before the body runs: a failure that is counted by no policy could not be recorded.
      if (retry) this.#retry = readRetry(retry, { defaults: STEP_RETRY, whose: this.#name });
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#try();
  }

  #try(): void {
    const execution = this.#execution;
    this.#startedAt = execution.engine.now();
    const bound = { what: this.#name, timeoutMs: this.#timeoutMs };
    try {
      const going = execution.during(() => runBody(execution, bound, this.#asked.body));
      if (!isThenable(going)) this.#record(going);
      else
        void going.then(
          (result) => this.#record(result),
          (error: unknown) => this.#failed(error),
        );
    } catch (error) {
      void this.#failed(error);
    }
  }

  #record(result: unknown): void {
    try {
      const output = toJsonText(result, `the result of ${this.#name}`);
      const { step, occurrence } = this.#ref;
      const command = { type: 'record-step', step, occurrence, startedAt: this.#startedAt, output } as const;
      this.#execution.order(command, {
        done: () => this.#succeed(output),
        refused: (error) => void this.#failed(error),
      });
    } catch (error) {
      void this.#failed(error);
    }
  }

  async #failed(error: unknown): Promise<void> {
    const failed = { startedAt: this.#startedAt, error, retry: this.#retry };
    try {
      const nextTryAt = await failTry(this.#execution, this.#ref, failed);
      if (nextTryAt === null) throw error;
      await this.#execution.pauseUntil(nextTryAt, this.#ref.step);
      this.#try();
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** As errors call it. */
  get #name(): string {
    return `step '${this.#ref.step}'`;
  }

  #succeed(output: string): void {
    this.#execution.end(this.#ref);
    this.#outcome.resolve(JSON.parse(output));
  }

  #fail(error: unknown): void {
    this.#execution.end(this.#ref);
    this.#outcome.reject(error);
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
