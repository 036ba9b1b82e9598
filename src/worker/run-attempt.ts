import { PawlError } from '../errors.js';
import { attemptKeyOf, attemptOf, nondeterminismWait, timesOutAt, type Job } from '../kernel/index.js';
import { failureOf } from '../engine/failure-of.js';
import { toJsonText } from '../engine/json-text.js';
import type { Loaded } from '../ports/store.js';
import { Attempt } from './attempt.js';
import { Execution, type Surroundings } from './execution.js';
import { HeldJob } from './held-job.js';
import { callHook } from './hooks.js';
import type { JobInfo } from './job-info.js';
import { nothingPast, readPast, type Past } from './past.js';
import { Replay } from './replay.js';
import type { TaskDefinition } from './task-definition.js';

/** A job that was created, and claimed, and nothing else yet. */
const FRESH_REV = 2;

/** A claimed job, ready to run. */
export type Prepared = {
  readonly attempt: Attempt;
  readonly execution: Execution;
  readonly skipCheckpoints: number;
};

/**
 * Reads what a job has done so far, from its last checkpoint on, unless told to go through all of it. One that has done
 * nothing is ready at once.
 */
export function prepareAttempt(
  around: Surroundings,
  head: Loaded,
  { ignoreCheckpoints = false }: { ignoreCheckpoints?: boolean } = {},
): Prepared | Promise<Prepared> {
  const { job } = head;
  if (job.rev <= FRESH_REV) return prepared(around, head, nothingPast());
  const reading = readPast(around.engine.store, job, { ignoreCheckpoints });
  return reading.then((past) => prepared(around, head, past));
}

function prepared(around: Surroundings, head: Loaded, past: Past): Prepared {
  const { engine } = around;
  const { steps, commits, skippedCheckpoints } = past;
  const attempt = new Attempt(engine, head, steps);
  const execution = new Execution(around, attempt, new Replay(engine.alarms, head.job, commits));
  return { attempt, execution, skipCheckpoints: skippedCheckpoints };
}

/** Runs the handler of a claimed job until the attempt is over, one way or another. Never throws. */
export async function runAttempt(
  { attempt, execution, skipCheckpoints }: Prepared,
  task: TaskDefinition,
): Promise<void> {
  const { engine } = execution;
  const cancelAlarms = bound(execution);
  const { spec } = attempt.job;
  const { hooks, tracing } = execution.around;
  const info = infoOf(attempt.job);
  const startedAt = engine.clock.elapsed();
  if (hooks.attemptStarted) callHook(engine.log, 'attemptStarted', () => hooks.attemptStarted?.(info));
  const span = tracing?.execution(info) ?? null;
  const handle = async () => {
    const read = task.readStored(attempt.job.input, `the input of '${task.name}'`);
    const input = read instanceof Promise ? await read : read;
    const held = new HeldJob(execution, { input, job: info, skipCheckpoints });
    return toJsonText(await task.run(held), `the result of '${task.name}'`);
  };
  void (span ? span.within(handle) : handle()).then(
    (result) => {
      execution.handlerReturned();
      attempt.give({ type: 'complete', result });
    },
    (error: unknown) => {
      execution.handlerReturned();
      giveUp(attempt, execution, error).catch((problem: unknown) => {
        if (attempt.isOver) return;
        engine.log.error('an attempt could not be ended', { jobId: spec.jobId, error: problem });
        attempt.lose('it could not be ended');
      });
    },
  );
  const end = await attempt.ended;
  cancelAlarms();
  const { failure } = attempt.job;
  const status = end === 'lost' ? end : attempt.job.status;
  span?.end({ status, error: failure && failure.message });
  if (hooks.attemptEnded) {
    const durationMs = engine.clock.elapsed() - startedAt;
    const outcome = { status, failure, durationMs };
    callHook(engine.log, 'attemptEnded', () => hooks.attemptEnded?.(info, outcome));
  }
}

/** The handler threw. One that left its history parks the job: running the right code again heals it. */
async function giveUp(attempt: Attempt, execution: Execution, error: unknown): Promise<unknown> {
  if (attempt.isOver) return null;
  if (error instanceof PawlError && error.code === 'NONDETERMINISM') {
    const { rev, spec } = attempt.job;
    execution.engine.log.error('a job was parked', { jobId: spec.jobId, error });
    return execution.ask({ type: 'begin-wait', waits: [nondeterminismWait({ rev })] });
  }
  return execution.ask({ type: 'fail-attempt', failure: failureOf(error) });
}

/** Ends the attempt when its time, or the job's, is up. */
function bound(execution: Execution): () => void {
  const { engine, attempt } = execution;
  const cancels: (() => void)[] = [];
  const at = (time: number, end: () => void) => cancels.push(engine.alarms.set(time - engine.now(), end));
  const giving = (command: Parameters<Execution['ask']>[0]) => () => {
    execution.ask(command).catch((error: unknown) => {
      engine.log.error('an attempt could not be ended', { jobId: attempt.job.spec.jobId, error });
    });
  };
  const timeout = timesOutAt(attempt.job);
  if (timeout !== null) at(timeout, giving({ type: 'time-out' }));
  const { deadlineAt } = attempt.job.spec;
  const { worker } = attempt.job;
  if (deadlineAt !== null && worker !== null) at(deadlineAt, giving({ type: 'expire-deadline', worker }));
  return () => {
    for (const cancel of cancels) cancel();
  };
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
