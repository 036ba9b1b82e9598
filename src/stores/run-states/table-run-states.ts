import {
  applyRunPatch,
  DEFAULT_RUNS,
  type RunFilter,
  type RunPatch,
  type RunSnapshot,
} from '../../contracts/index.js';
import { PawlError } from '../../errors.js';
import { JOB_ID } from '../../kernel/index.js';
import type { RunStateStore } from '../../ports/run-state-store.js';
import type { RunQuery, RunStateTable } from './run-state-table.js';

/** A store of run states over a table: what all stores have in common, once. */
export function tableRunStates(table: RunStateTable): RunStateStore {
  return {
    async createRun(snapshot) {
      expectNew(snapshot);
      if (await table.insert(snapshot)) return;
      throw new PawlError('JOB_EXISTS', {
        detail: `run ${snapshot.run_id} exists already`,
        details: { runId: snapshot.run_id },
      });
    },
    async updateRun(patch, expectedVersion) {
      const { run_id: runId } = patch;
      const before = await table.read(runId);
      if (before === null) throw notFound(runId);
      if (before.version !== expectedVersion) throw conflict(patch, expectedVersion, before.version);
      const after = applyRunPatch(before, patch);
      if (await table.replace(after, expectedVersion)) return after.version;
      throw conflict(patch, expectedVersion, null);
    },
    getRun: (runId) => table.read(runId),
    async listRuns(filter = {}) {
      const query = queryOf(filter);
      return query.limit === 0 ? [] : table.list(query);
    },
  };
}

function expectNew({ run_id: runId, version, status }: RunSnapshot): void {
  if (!JOB_ID.test(runId)) {
    throw new PawlError('INVALID_OPTION', {
      detail: `run_id is ${JSON.stringify(runId)}, which does not match ${JOB_ID.source}`,
      details: { option: 'run_id' },
    });
  }
  if (version !== 1 || status !== 'queued') {
    throw new PawlError('INVALID_OPTION', {
      detail: `run ${runId} is created ${status} in version ${version}; a new run is queued, in version 1`,
      details: { option: version === 1 ? 'status' : 'version' },
    });
  }
}

function queryOf({ status, workflow_name, before, limit = DEFAULT_RUNS }: RunFilter): RunQuery {
  if (!(Number.isInteger(limit) && limit >= 0)) {
    throw new PawlError('INVALID_OPTION', {
      detail: `limit is ${String(limit)}, which is no whole number from 0`,
      details: { option: 'limit' },
    });
  }
  return { status: status ?? null, workflowName: workflow_name ?? null, before: before ?? null, limit };
}

function notFound(runId: string): PawlError {
  return new PawlError('JOB_NOT_FOUND', { detail: `there is no run ${runId}`, details: { runId } });
}

function conflict({ run_id: runId }: RunPatch, expected: number, found: number | null): PawlError {
  const there = found === null ? 'which was replaced meanwhile' : `but it is at ${found}`;
  return new PawlError('VERSION_CONFLICT', {
    detail: `run ${runId} was to be changed from version ${expected}, ${there}`,
    details: { runId, expected, found },
  });
}
