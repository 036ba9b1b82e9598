import {
  newRunId,
  pawl,
  PawlError,
  runEndOf,
  runStates,
  systemClock,
  jsonLogger,
  toMs,
  type Clock,
  type Duration,
  type ErrorCode,
  type JobHandle,
  type Logger,
  type Notifier,
  type Pawl,
  type Recorder,
  type RunEnd,
  type RunSnapshot,
  type RunState,
  type RunStates,
  type RunStateStore,
  type Task,
} from '../index.js';
import { APPLY_TASK, applyTask, type ApplyResult } from './apply-task.js';
import { loadWorkflow, type Loaded, type Source } from './load-workflow.js';
import type { Variables } from './variables.js';
import { warnedOnce } from './warned-once.js';

export type ApplyOptions = {
  /** Where the job lives that carries the run out: `sqlite:pawl.db` unless said otherwise. */
  readonly store?: string;
  /** Where the state of the run is kept: beside the job, unless said otherwise. False: nowhere. */
  readonly runs?: string | RunStateStore | false;
  /** A run that was interrupted goes on if it is given again. */
  readonly runId?: string;
  readonly notifier?: Notifier;
  /** Told of everything, beside the state of the run. */
  readonly recorders?: readonly Recorder[];
  /** How many hosts are worked on at once. */
  readonly parallel?: number;
  /** How long a run stays with a process that is not heard of. */
  readonly lease?: Duration;
  /** How long actions that are under way get to end when the run is stopped. */
  readonly drain?: Duration;
  /** Stops working. The run is left as it is, and goes on when it is applied again. */
  readonly signal?: AbortSignal;
  /** Told, in a sentence, when the run waits for somebody. */
  readonly onWaiting?: (sentence: string) => void;
  /** Told the id as soon as there is one. */
  readonly onStarted?: (runId: string) => void;
  readonly log?: Logger;
  readonly clock?: Clock;
};

export type Applied = {
  readonly runId: string;
  /** `running`: the run was stopped here, and goes on when it is applied again. */
  readonly status: RunState;
  /** The state of the run; null if nobody keeps it. */
  readonly run: RunSnapshot | null;
  /** What the workflow exports, by host. */
  readonly exported: Readonly<Record<string, Variables>>;
};

const DEFAULT_PARALLEL = 50;
const DEFAULT_LEASE: Duration = '10s';
const DEFAULT_DRAIN: Duration = '10s';
const LOOK_MS = 500;

/** Applies a workflow, or goes on with a run of it, and answers when it has ended. A step that fails is no error: the status says it. */
export async function apply(workflow: string | Loaded, options: ApplyOptions = {}): Promise<Applied> {
  const { source } = typeof workflow === 'string' ? await loadWorkflow(workflow) : workflow;
  const {
    store = 'sqlite:pawl.db',
    parallel = DEFAULT_PARALLEL,
    lease = DEFAULT_LEASE,
    drain = DEFAULT_DRAIN,
    clock = systemClock,
    recorders = [],
  } = options;
  // What the worker would refuse is refused before there is a job that nobody works on.
  const working = { lease: toMs(lease, 'lease'), drain: toMs(drain, 'drain') };
  if (!(Number.isInteger(parallel) && parallel > 0)) {
    throw new PawlError('INVALID_OPTION', {
      detail: `parallel is ${parallel}`,
      details: { option: 'parallel' },
    });
  }
  const log = warnedOnce(
    options.log ?? jsonLogger({ level: 'warn', write: (line) => process.stderr.write(line) }),
  );
  const runs = await openRuns(options, { store, clock, log });
  try {
    const claimedAt = async (id: string): Promise<number | null> => (await app.job(id).status()).claimedAt;
    const task = applyTask({ runs, recorders, parallel, claimedAt, clock, log });
    const app: Pawl = await pawl({ store, tasks: [task], log, clock });
    try {
      const runId = options.runId ?? newRunId({ clock });
      const queue = `apply:${runId}`;
      const job = await started(app, task, { runId, queue, source });
      options.onStarted?.(job.id);
      await app.work({ ...working, queues: [queue], stopOnSignal: false });
      const ended = (await untilEnded(app, job, { clock, ...options })) ?? (await stopped(app, job));
      return await answer({ runs, job, ended, log });
    } finally {
      await app.close();
    }
  } finally {
    await runs?.close();
  }
}

function openRuns(
  { runs, notifier }: ApplyOptions,
  { store, clock, log }: { store: string; clock: Clock; log: Logger },
): Promise<RunStates> | null {
  if (runs === false) return null;
  return runStates({ store: runs ?? store, clock, log, ...(notifier ? { notifier } : {}) });
}

/** Starts the run, or finds it. Another workflow under the same id is DUPLICATE; another's job is JOB_EXISTS. */
async function started(
  app: Pawl,
  task: Task<Source, ApplyResult>,
  { runId, queue, source }: { runId: string; queue: string; source: Source },
): Promise<JobHandle<ApplyResult>> {
  const key = { idempotencyKey: runId, scope: APPLY_TASK };
  try {
    return (await app.start(task, source, { jobId: runId, queue, ...key })).job;
  } catch (error) {
    if (!isCode(error, 'JOB_EXISTS', 'DUPLICATE')) throw error;
    const before = await app
      .job(runId)
      .status()
      .catch((missing: unknown) => {
        // Only its key is left of it.
        throw isCode(missing, 'JOB_NOT_FOUND') ? error : missing;
      });
    if (before.spec.task !== APPLY_TASK || before.spec.idempotencyKey !== runId) throw error;
    if (isSame(source, JSON.parse(before.input) as Source)) return app.job<ApplyResult>(runId);
    // Says what is wrong: the key's job was started with something else.
    return (await app.start(task, source, { queue, ...key })).job;
  }
}

function isCode(error: unknown, ...codes: readonly ErrorCode[]): boolean {
  return error instanceof PawlError && codes.includes(error.code);
}

/** Whether two are one workflow, whatever its file was called: by another path it is still the same file. */
function isSame(one: Source, other: Source): boolean {
  // The text names the files, so both have the same ones.
  return (
    one.text === other.text && Object.keys(one.files).every((name) => one.files[name] === other.files[name])
  );
}

type Job = Awaited<ReturnType<JobHandle['status']>>;

type Watching = Pick<ApplyOptions, 'signal' | 'onWaiting'> & { readonly clock: Clock };

/** The job once it has ended; null if the run was stopped here before. A store that does not answer is asked again. */
async function untilEnded(
  app: Pawl,
  job: JobHandle<ApplyResult>,
  { clock, signal, onWaiting }: Watching,
): Promise<Job | null> {
  let told = '';
  for (;;) {
    if (signal?.aborted) return null;
    try {
      const found = await job.status();
      if (found.finishedAt !== null) return found;
      if (found.status === 'waiting' && onWaiting) {
        const { sentence } = await app.why(job.id);
        if (sentence !== told) onWaiting((told = sentence));
      }
      await pause(job, { clock, signal });
    } catch (error) {
      if (!(error instanceof PawlError && error.retryable)) throw error;
      await pause(null, { clock, signal });
    }
  }
}

/** What was under way may have been all that was left. */
async function stopped(app: Pawl, job: JobHandle<ApplyResult>): Promise<Job | null> {
  await app.stop();
  const found = await job.status();
  return found.finishedAt === null ? null : found;
}

/** Until the job has ended, if one is given, or it is time to look again. */
function pause(
  job: JobHandle<ApplyResult> | null,
  { clock, signal }: { clock: Clock; signal: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve) => {
    const now = (): void => {
      cancel();
      signal?.removeEventListener('abort', now);
      resolve();
    };
    const cancel = clock.after(LOOK_MS, now);
    signal?.addEventListener('abort', now);
    job?.result({ timeout: LOOK_MS }).then(now, now);
  });
}

type Answering = {
  readonly runs: RunStates | null;
  readonly job: JobHandle<ApplyResult>;
  readonly ended: Job | null;
  readonly log: Logger;
};

/** How the run ended is known from its job, also where its state cannot be read. */
async function answer({ runs, job, ended, log }: Answering): Promise<Applied> {
  const unreadable = (error: unknown): null => {
    log.error('the state of a run could not be read', { runId: job.id, error });
    return null;
  };
  if (ended === null) {
    const run = runs && (await runs.find(job.id).catch(unreadable));
    return { runId: job.id, status: 'running', run, exported: {} };
  }
  const end: RunEnd = runEndOf(ended) ?? { status: 'failed', message: null, error: null };
  const run = runs && (await settled(runs, job.id, end).catch(unreadable));
  const { exported = {} } = ended.result === null ? {} : (JSON.parse(ended.result) as Partial<ApplyResult>);
  return { runId: job.id, status: run?.status ?? end.status, run, exported };
}

/** A job that ended otherwise than by its handler, such as by a cancel, has not told the state of the run. */
async function settled(runs: RunStates, runId: string, end: RunEnd): Promise<RunSnapshot | null> {
  const before = await runs.find(runId);
  if (before === null || before.finished_at !== null) return before;
  return (await runs.end(runId, end)) ?? runs.find(runId);
}
