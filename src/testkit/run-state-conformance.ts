import { deepStrictEqual, equal, rejects } from 'node:assert/strict';
import { newRun, runState, runSummary, type RunPatch, type RunSnapshot } from '../contracts/index.js';
import { PawlError, type ErrorCode } from '../errors.js';
import type { RunStateStore } from '../ports/run-state-store.js';

/** Opens the store under test. Within one case, every call opens the same data again, which is empty at first. */
export type OpenRunStateStore = () => Promise<RunStateStore>;
export type RunStateCase = (open: OpenRunStateStore) => Promise<void>;

const AT = '2026-01-01T00:00:00Z';
const LATER = '2026-01-01T00:00:01Z';

const aRun = (run_id: string, workflow_name = 'deploy'): RunSnapshot =>
  newRun({ run_id, workflow_name, at: AT });
const patch = (run_id: string, changes: Partial<RunPatch> = {}): RunPatch => ({
  run_id,
  updated_at: LATER,
  ...changes,
});
const refused = (code: ErrorCode) => (error: unknown) => error instanceof PawlError && error.code === code;

async function running(open: OpenRunStateStore, runId: string): Promise<RunStateStore> {
  const store = await open();
  await store.createRun(aRun(runId));
  await store.updateRun(patch(runId, { status: 'running', started_at: LATER }), 1);
  return store;
}

/** What every store of run states must do. Give each case data of its own. */
export const RUN_STATE_CONFORMANCE: Readonly<Record<string, RunStateCase>> = {
  'RST-1 a run comes back as it was created, also to whoever opens the store again': async (open) => {
    const store = await open();
    await store.createRun(aRun('run_created_1'));
    deepStrictEqual(await store.getRun('run_created_1'), aRun('run_created_1'));
    deepStrictEqual(await (await open()).getRun('run_created_1'), aRun('run_created_1'));
  },
  'RST-1 a run that nobody created is not there': async (open) => {
    equal(await (await open()).getRun('run_nobody_1'), null);
  },
  'RST-1 to create an id that is taken is an error, and changes nothing': async (open) => {
    const store = await running(open, 'run_taken_1');
    const before = await store.getRun('run_taken_1');
    await rejects(store.createRun(aRun('run_taken_1', 'other')), refused('JOB_EXISTS'));
    deepStrictEqual(await store.getRun('run_taken_1'), before);
  },
  'RST-1 to update a run that is not there is an error': async (open) => {
    await rejects((await open()).updateRun(patch('run_nobody_2'), 1), refused('JOB_NOT_FOUND'));
  },
  'RST-1 ids that are nearly the same are kept apart': async (open) => {
    const store = await open();
    const ids = ['run:a.b-1', 'run_a.b-1', 'run.a.b-1', 'run:a.b-1.json', 'run:a.b-1.2.next', 'Run:a.b-11'];
    for (const id of ids) await store.createRun(aRun(id, id));
    for (const id of ids) deepStrictEqual(await store.getRun(id), aRun(id, id));
  },
  'RST-2 the version starts at 1 and grows by one with every update': async (open) => {
    const store = await open();
    await store.createRun(aRun('run_version_1'));
    equal(await store.updateRun(patch('run_version_1', { status: 'running' }), 1), 2);
    equal(await store.updateRun(patch('run_version_1', { message: 'half' }), 2), 3);
    const { version, status, message, updated_at } = (await store.getRun('run_version_1')) ?? aRun('');
    deepStrictEqual(
      { version, status, message, updated_at },
      { version: 3, status: 'running', message: 'half', updated_at: LATER },
    );
  },
  'RST-2 an update that saw another version is refused, and changes nothing': async (open) => {
    const store = await running(open, 'run_stale_1');
    const before = await store.getRun('run_stale_1');
    for (const version of [0, 1, 3]) {
      await rejects(
        store.updateRun(patch('run_stale_1', { message: 'stale' }), version),
        refused('VERSION_CONFLICT'),
      );
    }
    deepStrictEqual(await store.getRun('run_stale_1'), before);
  },
  'RST-2 of many updates of one version at once, exactly one is saved': async (open) => {
    const store = await running(open, 'run_race_1');
    const other = await open();
    for (let version = 2; version < 12; version++) {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, (_, n) =>
          (n % 2 === 0 ? store : other).updateRun(patch('run_race_1', { message: `writer ${n}` }), version),
        ),
      );
      const saved = outcomes.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
      equal(saved.length, 1);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') equal(refused('VERSION_CONFLICT')(outcome.reason), true);
      const found = await store.getRun('run_race_1');
      deepStrictEqual([found?.version, found?.message], [version + 1, `writer ${saved[0]}`]);
    }
  },
  'RST-2 of many creations of one id at once, exactly one is saved': async (open) => {
    const stores = [await open(), await open()] as const;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => stores[n % 2 === 0 ? 0 : 1].createRun(aRun('run_twins_1', `${n}`))),
    );
    const saved = outcomes.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
    equal(saved.length, 1);
    equal((await stores[0].getRun('run_twins_1'))?.workflow_name, `${saved[0]}`);
  },
  'RST-7 steps and hosts are added by name, and changed one by one': async (open) => {
    const store = await running(open, 'run_steps_1');
    const host = { status: 'running', started_at: LATER } as const;
    const hosts = { 'web-1': host, 'web-2': host };
    await store.updateRun(patch('run_steps_1', { steps: [{ name: 'copy', started_at: LATER, hosts }] }), 2);
    await store.updateRun(
      patch('run_steps_1', {
        steps: [
          {
            name: 'copy',
            hosts: { 'web-2': { status: 'failed', output: 'no space\u0000left 🐾', output_truncated: true } },
          },
          { name: 'restart', status: 'skipped' },
        ],
      }),
      3,
    );
    const untold = { finished_at: null, message: null, output: null, output_truncated: false };
    const step = { status: 'running', started_at: null, finished_at: null, message: null } as const;
    deepStrictEqual((await store.getRun('run_steps_1'))?.steps, [
      {
        ...step,
        name: 'copy',
        started_at: LATER,
        hosts: {
          'web-1': { ...untold, ...host },
          'web-2': {
            ...untold,
            ...host,
            status: 'failed',
            output: 'no space\u0000left 🐾',
            output_truncated: true,
          },
        },
      },
      { ...step, name: 'restart', status: 'skipped', hosts: {} },
    ]);
  },
  'RST-8 a status that does not follow is refused, and the previous state kept': async (open) => {
    const store = await open();
    const { states, edges } = runState.machine;
    let n = 0;
    for (const from of states) {
      for (const to of states) {
        if (from === to || edges.some((edge) => edge.from === from && edge.to === to)) continue;
        const runId = `run_illegal_${(n += 1)}`;
        const version = await lead(store, runId, from);
        const before = await store.getRun(runId);
        await rejects(store.updateRun(patch(runId, { status: to }), version), refused('INVALID_TRANSITION'));
        deepStrictEqual(await store.getRun(runId), before);
      }
    }
  },
  'RST-8 a run that has ended is not changed any more': async (open) => {
    const store = await open();
    for (const end of ['success', 'failed', 'canceled', 'interrupted'] as const) {
      const version = await lead(store, `run_ended_${end}`, end);
      const late = patch(`run_ended_${end}`, { steps: [{ name: 'late' }] });
      await rejects(store.updateRun(late, version), refused('INVALID_TRANSITION'));
    }
  },
  'RST-15 only an interrupted run is reconciled, and it stays interrupted': async (open) => {
    const store = await open();
    const reconciliation = { outcome: 'success', reason: 'seen on the host', actor: 'ops', at: LATER };
    const version = await lead(store, 'run_found_1', 'interrupted');
    equal(await store.updateRun(patch('run_found_1', { reconciliation }), version), version + 1);
    const found = await store.getRun('run_found_1');
    deepStrictEqual([found?.status, found?.reconciliation], ['interrupted', reconciliation]);
    const other = await lead(store, 'run_found_2', 'failed');
    await rejects(
      store.updateRun(patch('run_found_2', { reconciliation }), other),
      refused('INVALID_TRANSITION'),
    );
  },
  'RST-1 lists have summaries, last id first, by status and workflow, a page at a time': async (open) => {
    const store = await open();
    for (let n = 1; n <= 9; n++)
      await store.createRun(aRun(`run_list_${n}`, n % 3 === 0 ? 'backup' : 'deploy'));
    await store.updateRun(patch('run_list_4', { status: 'running' }), 1);
    await store.updateRun(patch('run_list_6', { status: 'running', steps: [{ name: 'one' }] }), 1);
    const ids = async (filter: Parameters<RunStateStore['listRuns']>[0]): Promise<number[]> =>
      (await store.listRuns(filter)).map(({ run_id }) => Number(run_id.slice('run_list_'.length)));
    deepStrictEqual(await ids({}), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
    deepStrictEqual(await ids({ status: 'running' }), [6, 4]);
    deepStrictEqual(await ids({ workflow_name: 'backup' }), [9, 6, 3]);
    deepStrictEqual(await ids({ workflow_name: 'backup', status: 'running' }), [6]);
    deepStrictEqual(await ids({ limit: 4 }), [9, 8, 7, 6]);
    deepStrictEqual(await ids({ limit: 4, before: 'run_list_6' }), [5, 4, 3, 2]);
    deepStrictEqual(await ids({ limit: 0 }), []);
    const found = await store.getRun('run_list_6');
    deepStrictEqual(await store.listRuns({ workflow_name: 'backup', status: 'running' }), [
      found && runSummary(found),
    ]);
  },
  'RST-9 what was saved is there for whoever opens the store later, ended runs too': async (open) => {
    const first = await open();
    for (const end of runState.machine.states) await lead(first, `run_kept_${end}`, end);
    const later = await open();
    for (const end of runState.machine.states) equal((await later.getRun(`run_kept_${end}`))?.status, end);
    equal((await later.listRuns()).length, runState.machine.states.length);
  },
  'what a caller does with an answer, or with what it gave, does not change what is kept': async (open) => {
    const store = await open();
    const given = { ...aRun('run_copies_1'), last_error: { code: 'E', message: 'first' } };
    await store.createRun(given);
    (given.last_error as { message: string }).message = 'changed';
    const got = await store.getRun('run_copies_1');
    if (got?.last_error) (got.last_error as { message: string }).message = 'changed';
    equal((await store.getRun('run_copies_1'))?.last_error?.message, 'first');
  },
};

/** Takes a new run to a status by the shortest way, and answers with its version. */
async function lead(store: RunStateStore, runId: string, to: RunSnapshot['status']): Promise<number> {
  await store.createRun(aRun(runId));
  if (to === 'queued') return 1;
  const version = await store.updateRun(patch(runId, { status: 'running' }), 1);
  return to === 'running' ? version : store.updateRun(patch(runId, { status: to }), version);
}
