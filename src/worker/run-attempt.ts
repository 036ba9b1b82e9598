import { PawlError } from '../errors.js';
import {
  attemptKeyOf,
  attemptOf,
  nondeterminismWait,
  stepKey,
  timesOutAt,
  type Checkpoint,
  type Event,
  type Job,
} from '../kernel/index.js';
import { failureOf } from '../engine/failure-of.js';
import { readInherited, type Inherited } from '../engine/inherited.js';
import { toJsonText } from '../engine/json-text.js';
import { rejectionError } from '../engine/rejection-error.js';
import type { Loaded, Store } from '../ports/store.js';
import { adoptResults } from './adopt-results.js';
import { Attempt, type HeldCommand } from './attempt.js';
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
  readonly skipCheckpoints: readonly Checkpoint[];
  /** Why it cannot be run after all. */
  readonly unfit: PawlError | null;
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
  if (job.rev <= FRESH_REV && job.spec.continues === null) return prepared(around, head, nothingPast());
  const { store } = around.engine;
  const reading = Promise.all([readPast(store, job, { ignoreCheckpoints }), readBefore(store, job)]);
  return reading.then(([past, before]) =>
    before === null ? prepared(around, head, past) : continued(around, head, { past, before }),
  );
}

/** What the jobs before have recorded. That one of them is gone is for this one's log to tell. */
async function readBefore(store: Store, { spec: { continues } }: Job): Promise<Inherited | PawlError | null> {
  if (continues === null) return null;
  try {
    return await readInherited(store, continues);
  } catch (error) {
    if (error instanceof PawlError && error.code === 'CONTINUED_JOB_GONE') return error;
    throw error;
  }
}

function prepared(around: Surroundings, head: Loaded, past: Past): Prepared {
  const { engine } = around;
  const { steps, commits, skippedCheckpoints } = past;
  const replay = new Replay(engine.alarms, head.job, commits);
  const attempt = new Attempt(engine, head, { steps, replay });
  const execution = new Execution(around, attempt, { replay, inherited: null });
  return { attempt, execution, skipCheckpoints: skippedCheckpoints, unfit: null };
}

/** One that goes on with another first makes what that has recorded its own. Behind a checkpoint it has done so. */
async function continued(
  around: Surroundings,
  head: Loaded,
  { past, before }: { readonly past: Past; readonly before: Inherited | PawlError },
): Promise<Prepared> {
  const { engine } = around;
  const { steps, commits, skippedCheckpoints } = past;
  const { job } = head;
  const attempt = new Attempt(engine, head, { steps, replay: new Replay(engine.alarms, job, []) });
  const inherited = before instanceof PawlError ? null : before;
  let unfit = before instanceof PawlError ? before : null;
  let adopted: readonly Event[] = [];
  if (inherited !== null && job.checkpointRev === null) {
    const adopting = adoptResults(engine, attempt, inherited).then(
      (events) => void (adopted = events),
      (error: unknown) => {
        if (!(error instanceof PawlError)) throw error;
        unfit = error;
      },
    );
    await Promise.race([adopting, attempt.ended]);
  }
  const all =
    adopted.length === 0 ? commits : [...commits, { jobId: job.spec.jobId, rev: job.rev, events: adopted }];
  const replay = new Replay(engine.alarms, job, all, new Set(inherited?.kept().map(stepKey)));
  attempt.follow(replay);
  const execution = new Execution(around, attempt, { replay, inherited });
  return { attempt, execution, skipCheckpoints: skippedCheckpoints, unfit };
}

/** Runs the handler of a claimed job until the attempt is over, one way or another. Never throws. */
export async function runAttempt(
  { attempt, execution, skipCheckpoints, unfit }: Prepared,
  task: TaskDefinition,
): Promise<void> {
  const { engine } = execution;
  const cancelAlarms = bound(execution);
  const { hooks, tracing } = execution.around;
  const info = infoOf(attempt.job);
  const startedAt = engine.clock.elapsed();
  if (hooks.attemptStarted) callHook(engine.log, 'attemptStarted', () => hooks.attemptStarted?.(info));
  const span = tracing?.execution(info) ?? null;
  const handle = async () => {
    if (unfit !== null) throw unfit;
    const read = task.readStored(attempt.job.input, `the input of '${task.name}'`);
    const input = read instanceof Promise ? await read : read;
    const held = new HeldJob(execution, { input, job: info, skipCheckpoints });
    const result = toJsonText(await task.run(held), `the result of '${task.name}'`);
    execution.handlerReturned();
    if (!execution.replay.isPastAllBegun) await execution.replay.pastAllBegun();
    return result;
  };
  let isFinishing = false;
  const finish = (ending: HeldCommand): void => {
    if (isFinishing) return;
    isFinishing = true;
    execution.handlerReturned();
    end(execution, ending, (refusal) => end(execution, failed(refusal), (error) => letGo(execution, error)));
  };
  execution.replay.onLeft = (error) => finish(park(execution, error));
  execution.onGivenUp = (error) => finish(failed(error));
  void (span ? span.within(handle) : handle()).then(
    (result) => finish({ type: 'complete', result }),
    (error: unknown) => finish(failed(error)),
  );
  const ended = await attempt.ended;
  cancelAlarms();
  const { failure } = attempt.job;
  const status = ended === 'lost' ? ended : attempt.job.status;
  span?.end({ status, error: failure && failure.message });
  if (hooks.attemptEnded) {
    const durationMs = engine.clock.elapsed() - startedAt;
    const outcome = { status, failure, durationMs };
    callHook(engine.log, 'attemptEnded', () => hooks.attemptEnded?.(info, outcome));
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
