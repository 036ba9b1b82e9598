import type { RunFilter, RunPatch, RunSnapshot, RunSummary } from '../contracts/index.js';

/**
 * Where the state of runs is kept. A host application may bring its own; `RUN_STATE_CONFORMANCE` of the test kit proves
 * that it keeps to this. `applyRunPatch` and `selectRuns` have the rules, so that a store need not know them.
 */
export interface RunStateStore {
  /** Saves a new run, in version 1. Throws JOB_EXISTS if the id is taken. */
  createRun(snapshot: RunSnapshot): Promise<void>;
  /**
   * Applies a change to the version that the caller has seen, and answers with the next one. All of it is saved, or nothing:
   * of two that saw the same version, one is refused. Throws VERSION_CONFLICT, JOB_NOT_FOUND or INVALID_TRANSITION.
   */
  updateRun(patch: RunPatch, expectedVersion: number): Promise<number>;
  /** Null: there is none of this id. */
  getRun(runId: string): Promise<RunSnapshot | null>;
  /** By id, last first: of ids that Pawl made, these are the newest. */
  listRuns(filter?: RunFilter): Promise<RunSummary[]>;
}
