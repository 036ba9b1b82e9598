import { describe, expect, test } from 'vitest';
import type { RunCallback } from '../../src/contracts/index.js';
import { markInterrupted } from '../../src/tracker/mark-interrupted.js';
import { reconcileRun } from '../../src/tracker/reconcile-run.js';
import { trackerRig } from './tracker-rig.js';

describe('after a restart', () => {
  test('RST-9 runs that were running and will not go on are archived with their steps and hosts; others are left', async () => {
    const { begin, store, kept, clock, log, told, pass } = trackerRig();
    const lost = await begin({ runId: 'run_lost_1' });
    lost.stepStart({ step: 'one' });
    lost.hostResult({ step: 'one', host: 'a', status: 'success' });
    lost.hostStart({ step: 'one', host: 'b' });
    const alive = await begin({ runId: 'run_alive_1' });
    const ended = await begin({ runId: 'run_ended_1' });
    await ended.finish({ status: 'failed' });
    await lost.flush();
    await alive.flush();
    const marked = await markInterrupted(store, 'the server was restarted', {
      clock,
      log,
      notifier: { notify: (change) => void told.push(change) },
      isAlive: (runId) => runId === 'run_alive_1',
    });
    expect(marked).toEqual(['run_lost_1']);
    expect(await kept.getRun('run_lost_1')).toMatchObject({
      status: 'interrupted',
      interrupted_reason: 'the server was restarted',
      finished_at: expect.any(String) as string,
      steps: [{ status: 'interrupted', hosts: { a: { status: 'success' }, b: { status: 'interrupted' } } }],
    });
    expect((await kept.getRun('run_alive_1'))?.status).toBe('running');
    expect((await kept.getRun('run_ended_1'))?.status).toBe('failed');
    await pass(0);
    expect(told.at(-1)).toMatchObject({
      run_id: 'run_lost_1',
      status: 'interrupted',
      version: (await kept.getRun('run_lost_1'))?.version,
    });
    await alive.finish({ status: 'success' });
  });

  test('RST-9 more than a page of them is archived to the last', async () => {
    const { begin, store, clock, log } = trackerRig({ detail: 'run' });
    for (let n = 100; n < 350; n++) await (await begin({ runId: `run_many_${n}` })).flush();
    expect((await markInterrupted(store, 'restart', { clock, log })).length).toBe(250);
    expect(await store.listRuns({ status: 'running' })).toEqual([]);
  });

  test('RST-15 what is found out later is recorded with who and when; the status stays, the version grows, and it is told', async () => {
    const { begin, store, clock, log, told, pass } = trackerRig();
    const tracker = await begin({ runId: 'run_found_1' });
    const finding = { outcome: 'success', reason: 'the release is live', actor: 'ops@example' };
    const options = { clock, log, notifier: { notify: (change: RunCallback) => void told.push(change) } };
    await tracker.flush();
    await expect(reconcileRun(store, 'run_found_1', finding, options)).rejects.toMatchObject({
      code: 'INVALID_TRANSITION',
    });
    await markInterrupted(store, 'restart', { clock, log });
    const run = await reconcileRun(store, 'run_found_1', finding, options);
    expect(run).toMatchObject({
      status: 'interrupted',
      interrupted_reason: 'restart',
      version: 4,
      reconciliation: { ...finding, at: '2026-02-25T12:00:00Z' },
    });
    await pass(0);
    expect(told.at(-1)).toMatchObject({ run_id: 'run_found_1', status: 'interrupted', version: 4 });
    await expect(reconcileRun(store, 'run_found_9', finding, options)).rejects.toMatchObject({
      code: 'JOB_NOT_FOUND',
    });
    await expect(
      reconcileRun(store, 'run_found_1', { ...finding, actor: ' ' }, options),
    ).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'actor' },
    });
  });
});
