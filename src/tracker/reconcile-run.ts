import { utc, type RunSnapshot } from '../contracts/index.js';
import { PawlError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Notifier } from '../ports/notifier.js';
import type { RunStateStore } from '../ports/run-state-store.js';
import { changeRun } from './change-run.js';
import { NotifierQueue } from './notifier-queue.js';

export type Finding = {
  /** What became of the run after all, in the host system's own words. */
  readonly outcome: string;
  readonly reason: string;
  /** Who found out. */
  readonly actor: string;
};

/**
 * Records what the host system found out later about an interrupted run. The run stays interrupted; its version grows. Found
 * again, the later finding counts. Throws JOB_NOT_FOUND, or INVALID_TRANSITION for a run that is not interrupted.
 */
export async function reconcileRun(
  store: RunStateStore,
  runId: string,
  { outcome, reason, actor }: Finding,
  { clock, log, notifier }: { clock: Clock; log: Logger; notifier?: Notifier },
): Promise<RunSnapshot> {
  for (const [option, value] of Object.entries({ outcome, reason, actor })) {
    if (typeof value === 'string' && value.trim() !== '') continue;
    throw new PawlError('INVALID_OPTION', { detail: `${option} is missing`, details: { option } });
  }
  const at = utc(clock.now());
  const change = () => ({ reconciliation: { outcome, reason, actor, at } });
  const run = (await changeRun(store, runId, { clock, change })) as RunSnapshot;
  const { workflow_name, status, version } = run;
  const told = {
    run_id: runId,
    workflow_name,
    status,
    step: null,
    host: null,
    timestamp: at,
    error: null,
    version,
  };
  if (notifier) new NotifierQueue(notifier, { clock, log }).push(told);
  return run;
}
