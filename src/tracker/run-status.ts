import type { RunSnapshot } from '../contracts/index.js';
import { PawlError } from '../errors.js';
import type { RunStateStore } from '../ports/run-state-store.js';

/** A run as it stands, with its latest error: what the HTTP API answers with too. Throws JOB_NOT_FOUND. */
export async function getRunStatus(
  store: Pick<RunStateStore, 'getRun'>,
  runId: string,
): Promise<RunSnapshot> {
  const found = await store.getRun(runId);
  if (found !== null) return found;
  throw new PawlError('JOB_NOT_FOUND', { detail: `there is no run ${runId}`, details: { runId } });
}
