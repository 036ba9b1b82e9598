import { runSummary } from './run-patch.js';
import type { RunSnapshot, RunState, RunSummary } from './run-state.js';

export type RunFilter = {
  readonly status?: RunState;
  readonly workflow_name?: string;
  /** Only runs whose id comes before this one: the last id of a page leads to the next. */
  readonly before?: string;
  /** 100 unless said otherwise. */
  readonly limit?: number;
};

export const DEFAULT_RUNS = 100;

/** What a list of these runs shows, for stores that have no index to ask. */
export function selectRuns(runs: Iterable<RunSnapshot>, filter: RunFilter = {}): RunSummary[] {
  const { status, workflow_name: name, before, limit = DEFAULT_RUNS } = filter;
  return [...runs]
    .filter((run) => status === undefined || run.status === status)
    .filter((run) => name === undefined || run.workflow_name === name)
    .filter((run) => before === undefined || run.run_id < before)
    .toSorted((a, b) => (a.run_id < b.run_id ? 1 : -1))
    .slice(0, limit)
    .map(runSummary);
}
