import { applyRunPatch, PawlError, selectRuns } from '../../src/index.js';
import type { RunSnapshot, RunStateStore } from '../../src/index.js';

/** What the host application has already: texts by key, replaced only if they are still what was read. */
export interface KeyValue {
  get(key: string): Promise<string | null>;
  swap(key: string, from: string | null, to: string): Promise<boolean>;
  keys(): Promise<string[]>;
}

export function ownStore(kv: KeyValue): RunStateStore {
  const read = (text: string | null) => (text === null ? null : (JSON.parse(text) as RunSnapshot));
  return {
    async createRun(run) {
      const created = await kv.swap(run.run_id, null, JSON.stringify(run));
      if (!created) throw new PawlError('JOB_EXISTS', { detail: `run ${run.run_id} exists` });
    },
    async updateRun(patch, expectedVersion) {
      const text = await kv.get(patch.run_id);
      const run = read(text);
      if (run === null) throw new PawlError('JOB_NOT_FOUND', { detail: `no run ${patch.run_id}` });
      const next = run.version === expectedVersion ? applyRunPatch(run, patch) : null;
      if (next !== null && (await kv.swap(run.run_id, text, JSON.stringify(next)))) return next.version;
      throw new PawlError('VERSION_CONFLICT', { detail: `run ${run.run_id} is not ${expectedVersion}` });
    },
    getRun: async (id) => read(await kv.get(id)),
    async listRuns(filter) {
      const texts = await Promise.all((await kv.keys()).map((id) => kv.get(id)));
      return selectRuns(
        texts.map(read).filter((run) => run !== null),
        filter,
      );
    },
  };
}
