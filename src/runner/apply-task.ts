import {
  composeRecorders,
  fatal,
  PawlError,
  task,
  type Clock,
  type HandlerContext,
  type Logger,
  type Recorder,
  type RunSnapshot,
  type RunStates,
  type RunTracker,
  type Task,
} from '../index.js';
import { workflowOf, type Source } from './load-workflow.js';
import { skipKnown } from './skip-known.js';
import type { Variables } from './variables.js';
import { whenClaimed } from './when-claimed.js';
import { runWorkflow } from './workflow-run.js';

export type ApplyParts = {
  /** Null: nobody keeps the state of the run. */
  readonly runs: RunStates | null;
  readonly recorders: readonly Recorder[];
  readonly parallel: number;
  /** When the job of a run was claimed last, by the store's clock; null if nobody has it. */
  readonly claimedAt: (runId: string) => Promise<number | null>;
  readonly clock: Clock;
  readonly log: Logger;
};

export type ApplyResult = { readonly exported: Readonly<Record<string, Variables>> };

export const APPLY_TASK = 'pawl.apply';

/**
 * A workflow as a job. Whatever is done on hosts is recorded step by step, so that a run that was interrupted goes on where it
 * was. What it tells recorders is beside the job: it may be told twice, and is never waited for but at the end.
 */
export function applyTask(parts: ApplyParts): Task<Source, ApplyResult> {
  const { runs, recorders, parallel, claimedAt, clock, log } = parts;
  const leaving = new Map<string, Promise<void>>();
  return task(
    { name: APPLY_TASK, retry: { maxRetries: 0 } },
    async ({ input, step, job, signal }: HandlerContext<Source>): Promise<ApplyResult> => {
      const workflow = workflowOf(input);
      await leaving.get(job.id);
      const { tracker, before } = await tracked(runs, {
        runId: job.id,
        workflowName: workflow.name,
        log,
      });
      // A handler that is suspended, or has lost its job, comes no further: what is told of the run is for the next one to tell.
      onceAborted(signal, () => {
        if (tracker === null) return;
        const left = tracker.leave().then(() => void leaving.delete(job.id));
        leaving.set(job.id, left);
      });
      const all = composeRecorders(tracker ? [tracker, ...recorders] : recorders, { log });
      const recorder = skipKnown(all, before);
      const claimed = whenClaimed({ clock, signal, claimedAt: () => claimedAt(job.id) });
      const around = { runId: job.id, steps: step, recorder, clock, claimedAt: claimed };
      const context = { workflow, files: input.files, ...around, global: { exported: {} } };
      const end = await runWorkflow(context, { parallel }).catch(async (error: unknown) => {
        // The job ends otherwise than the workflow would, and its end is all that is told of the run from then on.
        await tracker?.flush();
        throw error;
      });
      const { status, message, exported } = end;
      const error = message === null ? null : { code: 'WORKFLOW_FAILED', message };
      recorder.runFinish({ status, message, error });
      await tracker?.finish({ status, message, error });
      if (message !== null) throw fatal(new PawlError('WORKFLOW_FAILED', { detail: message }));
      return { exported };
    },
  );
}

function onceAborted(signal: AbortSignal, then: () => void): void {
  if (signal.aborted) then();
  else signal.addEventListener('abort', then, { once: true });
}

/** Goes on with what is there of the run. One that has ended there has nothing to add; one that cannot be read is tracked anew. */
async function tracked(
  runs: RunStates | null,
  { runId, workflowName, log }: { runId: string; workflowName: string; log: Logger },
): Promise<{ tracker: RunTracker | null; before: RunSnapshot | null }> {
  if (runs === null) return { tracker: null, before: null };
  const before = await runs.find(runId).catch((error: unknown) => {
    log.error('the state of a run could not be read', { runId, error });
    return null;
  });
  if (before !== null && before.finished_at !== null) return { tracker: null, before };
  return { tracker: await runs.track({ runId, workflowName, resume: true }), before };
}
