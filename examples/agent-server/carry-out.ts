import { setTimeout } from 'node:timers/promises';
import { PawlError } from '../../src/index.js';
import { apply, type ApplyOptions, type Loaded } from '../../src/runner/index.js';

const AGAIN_MS = 1_000;

type Options = ApplyOptions & Required<Pick<ApplyOptions, 'runId' | 'signal' | 'onStarted'>>;

/**
 * Until the run has ended, or is stopped here. A store that fails meanwhile is waited for: the run is in it, and goes on. `isNew`:
 * until the run has started it is not, and whoever asked for it is told.
 */
export async function carryOut(
  loaded: Loaded,
  { isNew, ...options }: Options & { isNew: boolean },
): Promise<void> {
  const { runId, signal } = options;
  let hasStarted = !isNew;
  const onStarted = (): void => {
    hasStarted = true;
    options.onStarted(runId);
  };
  for (;;) {
    try {
      await apply(loaded, { ...options, onStarted });
      return;
    } catch (error) {
      if (!(hasStarted && error instanceof PawlError && error.retryable)) throw error;
      console.error(`Run ${runId} is tried again:`, error.message);
      if (await isStopped(signal)) return;
    }
  }
}

/** Whether the signal comes before it is time to try again. */
async function isStopped(signal: AbortSignal): Promise<boolean> {
  return setTimeout(AGAIN_MS, false, { signal }).catch(() => true);
}
