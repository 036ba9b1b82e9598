import type { RunFilter, RunSnapshot, RunSummary } from '../../contracts/index.js';

/** A filter with all of its members said. */
export type RunQuery = {
  readonly status: RunFilter['status'] | null;
  readonly workflowName: string | null;
  readonly before: string | null;
  readonly limit: number;
};

/** What a place to keep run states must be able to do. It knows no rules: it saves what it is given, or says that it cannot. */
export interface RunStateTable {
  /** False: the id is taken. */
  insert(snapshot: RunSnapshot): Promise<boolean>;
  /** Puts the snapshot in the place of the one with this version. False: that is not what is there. */
  replace(snapshot: RunSnapshot, version: number): Promise<boolean>;
  read(runId: string): Promise<RunSnapshot | null>;
  list(query: RunQuery): Promise<RunSummary[]>;
}
