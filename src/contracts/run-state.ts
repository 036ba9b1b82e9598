import type { Change, Job, Status } from '../kernel/index.js';
import { statusChangesOf, statusesShownAs, type Contract } from './contract.js';
import type { Machine } from './machine.js';
import { stepsMovedBy, stepsOf, type StepSnapshot, type StepState } from './run-state-steps.js';
import { utc, utcOrNull } from './utc.js';

export type RunState = 'queued' | 'running' | 'success' | 'failed' | 'canceled' | 'interrupted';

const machine: Machine<RunState> = {
  states: ['queued', 'running', 'success', 'failed', 'canceled', 'interrupted'],
  edges: [
    { from: null, to: 'queued' },
    { from: 'queued', to: 'running' },
    { from: 'running', to: 'success' },
    { from: 'running', to: 'failed' },
    { from: 'running', to: 'canceled' },
    { from: 'running', to: 'interrupted' },
    { from: 'queued', to: 'canceled', added: true },
  ],
};

const STATE: Readonly<Record<Status, RunState>> = {
  scheduled: 'queued',
  queued: 'queued',
  running: 'running',
  waiting: 'running',
  unblocked: 'running',
  retrying: 'running',
  interrupted: 'running',
  dlq_pending: 'running',
  dlq_recorded: 'running',
  succeeded: 'success',
  failed: 'failed',
  cancelled: 'canceled',
};

/** Run state for integrators. Here `interrupted` is an end: a run that will be resumed is still running. */
export const runState: Contract<RunState> = {
  name: 'run-state',
  resource: '/api/v1/runs',
  machine,
  project: (job) =>
    job.status === 'failed' && job.deadLetter?.from === 'interrupted' ? 'interrupted' : STATE[job.status],
  statusesOf: (state) => statusesShownAs(STATE, state, { interrupted: ['failed'] }),
};

export type RunSnapshot = {
  readonly run_id: string;
  readonly workflow_name: string;
  readonly status: RunState;
  readonly message: string | null;
  readonly last_error: { readonly code: string; readonly message: string } | null;
  readonly interrupted_reason: string | null;
  readonly version: number;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly updated_at: string;
  /** What the host system found out later about a run that was interrupted. The status stays what it is. */
  readonly reconciliation: Reconciliation | null;
  readonly steps: readonly StepSnapshot[];
};

export type Reconciliation = {
  readonly outcome: string;
  readonly reason: string;
  readonly actor: string;
  readonly at: string;
};

/** What a list has of a run: whoever wants the steps asks for the run. */
export type RunSummary = Omit<RunSnapshot, 'steps'>;

/** The snapshot that a job's whole log amounts to. Its version is the log's: one more for every commit. */
export function runSnapshot(job: Job, changes: readonly Change[]): RunSnapshot {
  return {
    run_id: job.spec.jobId,
    workflow_name: job.spec.task,
    status: runState.project(job),
    message: messageOf(job),
    last_error: lastErrorOf(job),
    interrupted_reason: job.interruptedReason,
    version: job.rev,
    started_at: utcOrNull(job.startedAt),
    finished_at: utcOrNull(job.finishedAt),
    updated_at: utc(job.updatedAt),
    reconciliation: null,
    steps: stepsOf(job, changes),
  };
}

export type RunCallback = {
  readonly run_id: string;
  readonly workflow_name: string;
  /** Of the host if one is named, else of the step if one is, else of the run. */
  readonly status: RunState | StepState;
  readonly step: string | null;
  readonly host: string | null;
  readonly timestamp: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly version: number;
};

/** One callback for each change of the run's status. */
export function runCallbacks(changes: readonly Change[]): RunCallback[] {
  return statusChangesOf(runState, changes).map(({ to, change }) => {
    const error = change.after.status === 'failed' ? lastErrorOf(change.after) : null;
    return callbackOf(change, { status: to, step: null, error });
  });
}

/** One callback for each change of a step in one commit of a log. A job's own step runs on no host. */
export function stepCallbacks(changes: readonly Change[], rev: number): RunCallback[] {
  return changes.flatMap((change, index) =>
    change.rev === rev ? stepsMovedBy(changes, index).map((moved) => callbackOf(change, moved)) : [],
  );
}

/** The callback that tells of what was found out later about a run, whose status stays what it is. */
export function findingCallback(
  job: Job,
  { at, version }: { readonly at: string; readonly version: number },
): RunCallback {
  const { jobId: run_id, task: workflow_name } = job.spec;
  const status = runState.project(job);
  return { run_id, workflow_name, status, step: null, host: null, timestamp: at, error: null, version };
}

function callbackOf(
  { event, after }: Change,
  { status, step, error }: Pick<RunCallback, 'status' | 'step' | 'error'>,
): RunCallback {
  return {
    run_id: after.spec.jobId,
    workflow_name: after.spec.task,
    status,
    step,
    host: null,
    timestamp: utc(event.at),
    error,
    version: after.rev,
  };
}

function messageOf(job: Job): string | null {
  if (job.status === 'waiting') return `waiting for ${job.waits.map(({ key }) => key).join(', ')}`;
  return job.failure && job.failure.message;
}

function lastErrorOf({ failure }: Job): RunSnapshot['last_error'] {
  return failure && { code: failure.code, message: failure.message };
}
