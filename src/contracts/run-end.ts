import type { Job } from '../kernel/index.js';
import { applyRunPatch, hasEnded, type RunPatch, type StepPatch } from './run-patch.js';
import { runState, type RunSnapshot, type RunState } from './run-state.js';
import { utc, utcOrNull } from './utc.js';

export type RunEnd = {
  readonly status: Exclude<RunState, 'queued' | 'running'>;
  readonly message: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

type Changes = Omit<RunPatch, 'run_id' | 'updated_at'>;

/** How a job ended, in the words of a run; null while it goes on. */
export function runEndOf(job: Job): RunEnd | null {
  const status = runState.project(job);
  if (status === 'queued' || status === 'running') return null;
  const error = job.failure && { code: job.failure.code, message: job.failure.message };
  return { status, message: error && error.message, error };
}

/** The change that ends a run. Steps and hosts that were under way are interrupted with it. */
export function endPatch(
  run: RunSnapshot,
  { status, message, error, at }: RunEnd & { readonly at: string },
): Changes {
  const ended = { status: 'interrupted', finished_at: at } as const;
  const steps = run.steps.flatMap(({ name, status: of, hosts }): StepPatch[] => {
    const open = Object.entries(hosts).filter(([, host]) => host.status === 'running');
    if (of !== 'running' && open.length === 0) return [];
    return [
      {
        name,
        ...(of === 'running' ? ended : {}),
        hosts: Object.fromEntries(open.map(([host]) => [host, ended])),
      },
    ];
  });
  return {
    status,
    message,
    finished_at: at,
    ...(status === 'interrupted' ? { interrupted_reason: message } : {}),
    ...(error === null ? {} : { last_error: error }),
    steps,
  };
}

/**
 * A run that is tracked, as it stands. Where its job has ended and nobody was left to tell, as when it is cancelled after its
 * process has died, the run has ended as its job has.
 */
export function settledRun(run: RunSnapshot, job: Job): RunSnapshot {
  const end = runEndOf(job);
  if (end === null || hasEnded(run.status)) return run;
  const updated_at = utc(job.finishedAt ?? job.updatedAt);
  const started_at = utcOrNull(job.startedAt);
  const begun: RunPatch = { run_id: run.run_id, updated_at, status: 'running', started_at };
  // Its tracker did not even come to tell of its beginning, without which only a cancel follows.
  const isSkipped = run.status === 'queued' && end.status !== 'canceled';
  const before = isSkipped ? applyRunPatch(run, begun) : run;
  return applyRunPatch(before, {
    run_id: run.run_id,
    updated_at,
    ...endPatch(before, { ...end, at: updated_at }),
  });
}
