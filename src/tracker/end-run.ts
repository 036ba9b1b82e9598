import { endPatch, hasEnded, utc, type RunSnapshot } from '../contracts/index.js';
import type { Clock } from '../ports/clock.js';
import type { RunFinish } from '../ports/recorder.js';
import type { RunStateStore } from '../ports/run-state-store.js';
import { changeRun } from './change-run.js';

/** Ends a run from outside, if it has not ended. Steps and hosts that were under way are interrupted. Null: it had ended. */
export function endRun(
  store: RunStateStore,
  runId: string,
  { clock, status, message = null, error = null }: RunFinish & { clock: Pick<Clock, 'now'> },
): Promise<RunSnapshot | null> {
  const at = utc(clock.now());
  return changeRun(store, runId, {
    clock,
    change: (run) => (hasEnded(run.status) ? null : endPatch(run, { status, message, error, at })),
  });
}
