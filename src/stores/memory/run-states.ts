import type { RunSnapshot } from '../../contracts/index.js';
import type { RunStateStore } from '../../ports/run-state-store.js';
import { idsInOrder, pageOf } from '../run-states/matching-runs.js';
import { tableRunStates } from '../run-states/table-run-states.js';

/** Run states in this process, for development and tests: they end with it. */
export function memoryRunStates(): RunStateStore {
  const runs = new Map<string, RunSnapshot>();
  const read = async (runId: string): Promise<RunSnapshot | null> => runs.get(runId) ?? null;
  const states = tableRunStates({
    async insert(snapshot) {
      if (runs.has(snapshot.run_id)) return false;
      runs.set(snapshot.run_id, snapshot);
      return true;
    },
    async replace(snapshot, version) {
      if (runs.get(snapshot.run_id)?.version !== version) return false;
      runs.set(snapshot.run_id, snapshot);
      return true;
    },
    read,
    list: async (query) => pageOf(idsInOrder(runs.keys(), query), query, read),
  });
  // What is kept belongs to nobody else: what comes in and what goes out are copies.
  return {
    createRun: (snapshot) => states.createRun(structuredClone(snapshot)),
    updateRun: (patch, expectedVersion) => states.updateRun(structuredClone(patch), expectedVersion),
    getRun: async (runId) => structuredClone(await states.getRun(runId)),
    listRuns: async (filter) => structuredClone(await states.listRuns(filter)),
  };
}
