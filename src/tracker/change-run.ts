import { utc, type RunPatch, type RunSnapshot } from '../contracts/index.js';
import { PawlError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { RunStateStore } from '../ports/run-state-store.js';
import { getRunStatus } from './run-status.js';

/** More than this in a row means that something writes without end, not that two met. */
const TRIES = 20;

/**
 * Changes a run that somebody else may be changing too: after a conflict, what is there now is looked at again. Null: there
 * was nothing to change.
 */
export async function changeRun(
  store: RunStateStore,
  runId: string,
  {
    clock,
    change,
  }: {
    clock: Pick<Clock, 'now'>;
    change: (run: RunSnapshot) => Omit<RunPatch, 'run_id' | 'updated_at'> | null;
  },
): Promise<(RunSnapshot & { readonly version: number }) | null> {
  for (let tries = 1; ; tries++) {
    const before = await getRunStatus(store, runId);
    const changes = change(before);
    if (changes === null) return null;
    try {
      await store.updateRun({ run_id: runId, updated_at: utc(clock.now()), ...changes }, before.version);
      return await getRunStatus(store, runId);
    } catch (error) {
      const isConflict = error instanceof PawlError && error.code === 'VERSION_CONFLICT';
      if (!isConflict || tries === TRIES) throw error;
    }
  }
}
