import type { PawlError } from '../errors.js';
import {
  attemptKeyOf,
  attemptOf,
  nondeterminismWait,
  timesOutAt,
  type Job,
  type JsonText,
} from '../kernel/index.js';
import { failureOf } from '../engine/failure-of.js';
import { toJsonText } from '../engine/json-text.js';
import { rejectionError } from '../engine/rejection-error.js';
import type { ExecutionSpan } from '../ports/tracing.js';
import type { AttemptEnd } from './attempt-end.js';
import type { HeldCommand } from './held-command.js';
import { isThenable, type Execution } from './execution.js';
import { HeldJob } from './held-job.js';
import { callHook } from './hooks.js';
import type { JobInfo } from './job-info.js';
import type { Prepared } from './prepare-attempt.js';
import type { TaskDefinition } from './task-definition.js';

/** Runs the handler of a claimed job until the attempt is over, one way or another. Never throws. */
export function runAttempt(prepared: Prepared, task: TaskDefinition): Promise<void> {
  return new HandlerRun(prepared, task).run();
}

/** One run of a handler. What it needs of this while it goes on is one object: there may be thousands (decision 53). */
class HandlerRun {
  readonly #prepared: Prepared;
  readonly #task: TaskDefinition;
  readonly #info: JobInfo;
  readonly #startedAt: number;
  readonly #cancelAlarms: () => void;
  #span: ExecutionSpan | null = null;
  #isFinishing = false;

  constructor(prepared: Prepared, task: TaskDefinition) {
    const { attempt, execution } = prepared;
    this.#prepared = prepared;
    this.#task = task;
    this.#cancelAlarms = bound(execution);
    this.#info = infoOf(attempt.job);
    this.#startedAt = execution.engine.clock.elapsed();
  }

  run(): Promise<void> {
    const { attempt, execution } = this.#prepared;
    const { hooks, tracing } = execution.around;
    const info = this.#info;
    if (hooks.attemptStarted)
      callHook(execution.engine.log, 'attemptStarted', () => hooks.attemptStarted?.(info));
    this.#span = tracing?.execution(info) ?? null;
    execution.replay.onLeft = (error) => this.#finish(park(execution, error));
    execution.onGivenUp = (error) => this.#finish(failed(error));
    this.#begin();
    return attempt.ended.then((ended) => this.#tellEnd(ended));
  }

  #begin(): void {
    try {
      const going = this.#span === null ? this.#handle() : this.#span.within(() => this.#handle());
      if (!isThenable(going)) this.#returned(going);
      else
        void Promise.resolve(going).then(
          (value) => this.#returned(value),
          (error: unknown) => this.#finish(failed(error)),
        );
    } catch (error) {
      this.#finish(failed(error));
    }
  }

  #handle(): unknown {
    const { attempt, unfit } = this.#prepared;
    if (unfit !== null) throw unfit;
    const read = this.#task.readStored(attempt.job.input, `the input of '${this.#task.name}'`);
    return read instanceof Promise ? read.then((input) => this.#call(input)) : this.#call(read);
  }

  #call(input: unknown): unknown {
    const { execution, skipCheckpoints } = this.#prepared;
    return this.#task.run(new HeldJob(execution, { input, job: this.#info, skipCheckpoints }));
  }

  #returned(value: unknown): void {
    const { execution } = this.#prepared;
    const result = resultOf(value, this.#task);
    if (typeof result !== 'string') return this.#finish(result);
    const complete = { type: 'complete', result } as const;
    execution.handlerReturned();
    if (execution.replay.isPastAllBegun) this.#finish(complete);
    else void execution.replay.pastAllBegun().then(() => this.#finish(complete));
  }

  #finish(ending: HeldCommand): void {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    const { execution } = this.#prepared;
    execution.handlerReturned();
    end(execution, ending, (refusal) => end(execution, failed(refusal), (error) => letGo(execution, error)));
  }

  #tellEnd(ended: AttemptEnd): void {
    const { attempt, execution } = this.#prepared;
    const { engine, around } = execution;
    this.#cancelAlarms();
    const { failure } = attempt.job;
    const status = ended === 'lost' ? ended : attempt.job.status;
    this.#span?.end({ status, error: failure && failure.message });
    const { hooks } = around;
    if (!hooks.attemptEnded) return;
    const outcome = { status, failure, durationMs: engine.clock.elapsed() - this.#startedAt };
    callHook(engine.log, 'attemptEnded', () => hooks.attemptEnded?.(this.#info, outcome));
  }
}

/** As JSON; or how the attempt ends, if it cannot be kept. */
function resultOf(value: unknown, { name }: TaskDefinition): JsonText | HeldCommand {
  try {
    return toJsonText(value, `the result of '${name}'`);
  } catch (error) {
    return failed(error);
  }
}

/** What becomes of a job whose handler has left its history: running the right code again heals it. */
function park({ engine, attempt }: Execution, error: PawlError): HeldCommand {
  const { rev, spec } = attempt.job;
  if (!attempt.isOver) engine.log.error('a job was parked', { jobId: spec.jobId, error });
  return { type: 'begin-wait', waits: [nondeterminismWait({ rev })] };
}

function failed(error: unknown): Extract<HeldCommand, { type: 'fail-attempt' }> {
  return { type: 'fail-attempt', failure: failureOf(error) };
}

/** Asks for the end of the attempt. One that is refused must not keep the job. */
function end({ attempt }: Execution, command: HeldCommand, refused: (error: PawlError) => void): void {
  if (attempt.isOver) return;
  attempt.give(command, undefined, (answer) => {
    if (answer.ok || answer.code === 'MOVED' || attempt.isOver) return;
    refused(rejectionError(answer, `end an attempt by '${command.type}'`));
  });
}

/** Nothing can be done: the heartbeats find the job as one that nobody runs, and hand it back. */
function letGo({ engine, attempt }: Execution, error: PawlError): void {
  engine.log.error('an attempt could not be ended', { jobId: attempt.job.spec.jobId, error });
  attempt.lose('it could not be ended');
}

/** Ends the attempt when its time, or the job's, is up. */
function bound(execution: Execution): () => void {
  const { worker, spec } = execution.attempt.job;
  const cancels: (() => void)[] = [];
  const timeout = timesOutAt(execution.attempt.job);
  if (timeout !== null) cancels.push(endAt(execution, timeout, { type: 'time-out' }));
  const { deadlineAt } = spec;
  if (deadlineAt !== null && worker !== null) {
    cancels.push(endAt(execution, deadlineAt, { type: 'expire-deadline', worker }));
  }
  return () => {
    for (const cancel of cancels) cancel();
  };
}

/** The store's clock may turn out to be behind what it seemed to be when the alarm was set: then it is set again. */
function endAt(execution: Execution, time: number, command: HeldCommand): () => void {
  const { engine } = execution;
  const arm = (): void => {
    cancel = engine.alarms.set(time - engine.now(), ring);
  };
  const ring = (): void => {
    if (engine.now() < time) arm();
    else end(execution, command, (error) => letGo(execution, error));
  };
  let cancel: () => void = () => undefined;
  arm();
  return () => cancel();
}

function infoOf(job: Job): JobInfo {
  const { jobId, task, queue, taskId, tenantId, traceId, traceparent } = job.spec;
  return {
    id: jobId,
    task,
    queue,
    taskId,
    tenantId,
    traceId,
    traceparent,
    attempt: attemptOf(job),
    retryCount: job.retryCount,
    executionKey: attemptKeyOf(job),
    createdAt: job.createdAt,
  };
}
