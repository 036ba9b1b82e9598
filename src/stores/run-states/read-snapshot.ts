import { runState, type RunSnapshot } from '../../contracts/index.js';
import { PawlError } from '../../errors.js';

/** A snapshot from its text. What is no snapshot, or not this run's, is RUN_STATE_UNREADABLE: never half of a run. */
export function readSnapshot(text: string, { runId, where }: { runId: string; where: string }): RunSnapshot {
  const unreadable = (why: string, cause?: unknown): PawlError =>
    new PawlError('RUN_STATE_UNREADABLE', { detail: `${where} ${why}`, details: { runId }, cause });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable('is no JSON', error);
  }
  const { run_id, version, status, steps } = (value ?? {}) as Partial<RunSnapshot>;
  if (run_id !== runId) throw unreadable(`is not of run ${runId}`);
  const isWhole =
    Number.isInteger(version) &&
    status !== undefined &&
    runState.machine.states.includes(status) &&
    Array.isArray(steps);
  if (!isWhole) throw unreadable('is no state of a run');
  return value as RunSnapshot;
}
