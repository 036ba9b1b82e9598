import { describe, expect, test } from 'vitest';
import { pawl, task, type RunSnapshot } from '../../src/index.js';
import { SILENT } from '../runner/apply-text.js';
import { deploy, ground, listed, orphan, ROOT, type Ground } from './run-ground.js';

describe('RST-15 an interrupted run is reconciled, whoever is asked', () => {
  const FINDING = { outcome: 'success', reason: 'the release is live' };

  /** Gives up the job of a run whose worker has gone. */
  async function abort(on: Ground, runId: string): Promise<void> {
    const endless = task(
      { name: 'deploy' },
      ({ signal }) =>
        new Promise<number>((resolve) => {
          signal.addEventListener('abort', () => resolve(1));
        }),
    );
    const worker = await pawl({ store: on.url, tasks: [endless], log: SILENT });
    await worker.work({ drain: 0, stopOnSignal: false });
    await expect.poll(async () => (await worker.job(runId).status()).status).toBe('running');
    await worker.close();
    await on.app.abandon(runId, { by: 'ann', reason: 'its machine is gone' });
  }

  test('RST-15 one of the engine’s own, over HTTP and by the CLI', async () => {
    const on = await ground();
    await on.app.start(deploy, null, { jobId: 'run_aborted_1' });
    const refused = await on.ask('POST', `${ROOT}/run_aborted_1/reconcile`, { body: FINDING });
    expect([refused.status, refused.code]).toEqual([409, 'RUN_STATE_INVALID_TRANSITION']);
    await abort(on, 'run_aborted_1');
    const before = (await on.ask('GET', `${ROOT}/run_aborted_1`)).data as unknown as RunSnapshot;
    expect(before).toMatchObject({ status: 'interrupted', reconciliation: null });
    const { data } = await on.ask('POST', `${ROOT}/run_aborted_1/reconcile`, { body: FINDING });
    expect(data).toMatchObject({
      status: 'interrupted',
      version: before.version + 1,
      reconciliation: { ...FINDING, actor: 'operator:local' },
    });
    expect((await on.ask('GET', `${ROOT}/run_aborted_1`)).data).toEqual(data);
    expect(await on.cli.json('runs', 'show', 'run_aborted_1')).toEqual(data);
    const said = ['--outcome', 'failed', '--reason', 'seen', '--by', 'ann'];
    const again = await on.cli.json('runs', 'reconcile', 'run_aborted_1', ...said);
    expect(again).toMatchObject({ version: before.version + 2, reconciliation: { actor: 'ann' } });
    expect((await on.ask('GET', `${ROOT}/run_aborted_1`)).data).toEqual(again);
    const { steps: _steps, ...summary } = again;
    expect((await listed(on, 'status=interrupted')).runs).toEqual([summary]);
  });

  test('RST-15 one that is tracked: archived, or interrupted with its job when nobody was left to tell', async () => {
    const on = await ground();
    const runs = await orphan(on, 'run_archived_1');
    await on.ask('POST', `${ROOT}/run_archived_1/cancel`, { body: {} });
    await runs.markInterrupted('its machine is gone');
    const archived = await on.ask('POST', `${ROOT}/run_archived_1/reconcile`, { body: FINDING });
    expect(archived.data).toEqual(await runs.status('run_archived_1'));
    expect(archived.data).toMatchObject({ status: 'interrupted', reconciliation: FINDING });

    await orphan(on, 'run_given_up_1');
    await abort(on, 'run_given_up_1');
    const shown = (await on.ask('GET', `${ROOT}/run_given_up_1`)).data;
    expect(shown).toMatchObject({ workflow_name: 'deploy-all', status: 'interrupted' });
    const said = ['--outcome', 'success', '--reason', 'seen', '--by', 'ann'];
    const found = await on.cli.json('runs', 'reconcile', 'run_given_up_1', ...said);
    expect(found).toMatchObject({
      status: 'interrupted',
      interrupted_reason: shown['interrupted_reason'],
      steps: [{ name: 'copy', status: 'interrupted', hosts: { a: { status: 'interrupted' } } }],
      reconciliation: { outcome: 'success', actor: 'ann' },
    });
    expect(await runs.status('run_given_up_1')).toEqual(found);
    expect((await on.ask('GET', `${ROOT}/run_given_up_1`)).data).toEqual(found);
  });
});
