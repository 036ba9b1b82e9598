import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Pawl } from '../../src/client/pawl.js';
import { createKey } from '../../src/engine/api-keys.js';
import { serve } from '../../src/http/serve.js';
import { runStates, type RunSnapshot, type RunSummary } from '../../src/index.js';
import { apply, loadWorkflow } from '../../src/runner/index.js';
import { SILENT } from '../runner/apply-text.js';
import { deploy, ground, listed, orphan, ROOT, statesOf, type Ground } from './run-ground.js';

const applied = async ({ url, folder }: Ground, runId: string) => {
  const loaded = await loadWorkflow('deploy.yaml', { cwd: folder });
  return apply(loaded, { store: url, runId, log: SILENT });
};

describe('a run that is tracked reads the same, whoever is asked', () => {
  test('RST-7 RST-10 one of pawl apply: over HTTP, by the CLI, in a program; with its hosts, and what failed on them', async () => {
    const on = await ground();
    const { run, status } = await applied(on, 'run_deploy_1');
    expect(status).toBe('failed');
    const over = await on.ask('GET', `${ROOT}/run_deploy_1`);
    expect(over.data).toEqual(run);
    expect(await on.cli.json('runs', 'show', 'run_deploy_1')).toEqual(run);
    expect(await (await statesOf(on)).status('run_deploy_1')).toEqual(run);
    const { workflow_name, steps, last_error } = over.data as unknown as RunSnapshot;
    expect([workflow_name, last_error?.code]).toEqual(['deploy', 'WORKFLOW_FAILED']);
    const hosts = steps.map(({ name, status: of, hosts: on_ }) => [
      name,
      of,
      Object.entries(on_).map(([host, { status: how }]) => `${host} ${how}`),
    ]);
    expect(hosts).toEqual([
      ['copy', 'success', ['a success', 'b skipped']],
      ['check', 'failed', ['a success', 'b failed']],
      ['install', 'failed', ['a failed', 'b success']],
    ]);
    expect(steps[2]?.hosts['a']?.output).toBe('no space\n');
    // Applied again, the same: the start finds the run.
    expect((await applied(on, 'run_deploy_1')).run).toEqual(run);
  });

  test('RST-10 lists have it as it reads: by its workflow, and by its status', async () => {
    const on = await ground();
    const { run } = await applied(on, 'run_deploy_1');
    const { steps: _steps, ...summary } = run as RunSnapshot;
    await on.app.start(deploy, null, { jobId: 'job_deploy_1' });
    await on.ask('POST', ROOT, { body: { workflow_name: 'other', run_id: 'job_other_1' } });
    for (const query of ['workflow_name=deploy&status=failed', 'status=failed'])
      expect((await listed(on, query)).runs, query).toEqual([summary]);
    expect((await listed(on, '')).ids).toEqual(['job_other_1', 'job_deploy_1', 'run_deploy_1']);
    expect((await listed(on, '')).runs.at(-1)).toEqual(summary);
    expect((await listed(on, 'workflow_name=deploy')).ids).toEqual(['run_deploy_1', 'job_deploy_1']);
    expect((await listed(on, 'workflow_name=deploy&status=queued')).ids).toEqual(['job_deploy_1']);
    expect((await listed(on, 'workflow_name=pawl.apply')).ids).toEqual([]);
    const { runs } = await on.cli.json<{ runs: unknown[] }>('runs', 'list', '--workflow', 'deploy');
    expect(runs).toEqual([summary]);
  });

  test('RST-10 pages by a name go through those that are tracked under it and those whose task it is, each once', async () => {
    const on = await ground();
    for (const n of [1, 2, 3]) {
      await orphan(on, `run_named_${n}`, { name: 'release' });
      await on.ask('POST', ROOT, { body: { workflow_name: 'release', run_id: `job_named_${n}` } });
    }
    for (const limit of [1, 2, 3, 4, 7]) {
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const query = `workflow_name=release&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`;
        const { data } = await on.ask('GET', `${ROOT}?${query}`);
        const runs = data['runs'] as RunSummary[];
        expect(runs.length).toBeLessThanOrEqual(limit);
        seen.push(...runs.map(({ run_id }) => run_id));
        cursor = data['next_cursor'] as string | null;
      }
      expect(seen).toEqual([
        ...[3, 2, 1].map((n) => `run_named_${n}`),
        ...[3, 2, 1].map((n) => `job_named_${n}`),
      ]);
    }
    expect((await on.ask('GET', `${ROOT}?cursor=tracked:run_named_1`)).status).toBe(400);
  });

  test('RST-8 RST-10 one whose job has ended, and whose tracker is not there to tell: it has ended as its job has', async () => {
    const on = await ground();
    const runs = await orphan(on, 'run_orphan_1');
    const before = await runs.status('run_orphan_1');
    expect((await on.ask('GET', `${ROOT}/run_orphan_1`)).data).toEqual(before);
    expect(await on.cli.json('runs', 'show', 'run_orphan_1')).toEqual(before);
    const { data } = await on.ask('POST', `${ROOT}/run_orphan_1/cancel`, { body: {} });
    expect(data).toMatchObject({
      workflow_name: 'deploy-all',
      status: 'canceled',
      version: before.version + 1,
      steps: [{ name: 'copy', status: 'interrupted', hosts: { a: { status: 'interrupted' } } }],
    });
    expect((await on.ask('GET', `${ROOT}/run_orphan_1`)).data).toEqual(data);
    expect(await on.cli.json('runs', 'show', 'run_orphan_1')).toEqual(data);
    expect((await listed(on, 'status=canceled')).ids).toEqual(['run_orphan_1']);
    expect((await listed(on, 'status=running')).ids).toEqual([]);
    // Told so by `runs interrupt`, it stays what it was; what an application archives itself is what it says.
    expect(await on.cli.json('runs', 'interrupt', '--reason', 'the server was replaced')).toEqual({
      run_ids: [],
      ended: [{ run_id: 'run_orphan_1', status: 'canceled' }],
    });
    expect(await runs.status('run_orphan_1')).toMatchObject({ status: 'canceled', version: data['version'] });
  });

  test('RST-9 RST-10 one that is archived after its job was cancelled is listed as interrupted', async () => {
    const on = await ground();
    const runs = await orphan(on, 'run_orphan_1');
    await on.ask('POST', `${ROOT}/run_orphan_1/cancel`, { body: {} });
    await runs.markInterrupted('its machine is gone');
    const archived = await runs.status('run_orphan_1');
    expect((await on.ask('GET', `${ROOT}/run_orphan_1`)).data).toEqual(archived);
    expect(await on.cli.json('runs', 'show', 'run_orphan_1')).toEqual(archived);
    expect((await listed(on, 'status=interrupted')).ids).toEqual(['run_orphan_1']);
    expect((await listed(on, 'status=canceled')).ids).toEqual([]);
  });

  test('RST-10 what others track, and what was of another run of the same id, is not shown', async () => {
    const on = await ground();
    const runs = await orphan(on, 'run_of_acme', { tenantId: 'acme', name: 'secret' });
    await runs.track({ workflowName: 'secret', runId: 'run_nobody_1' });
    const { engine } = Pawl.inside(on.app);
    const key = async (tenantId: string) =>
      (await createKey(engine, { tenantId, role: 'operator', name: 'k', by: 'operator:test' })).token;
    const [own, acme] = [await key('default'), await key('acme')];
    const over = (path: string, whose: string) => on.ask('GET', `${ROOT}${path}`, { key: whose });
    expect((await over('/run_of_acme', acme)).data).toMatchObject({ workflow_name: 'secret' });
    expect((await over('/run_of_acme', own)).code).toBe('RUN_NOT_FOUND');
    expect((await over('/run_nobody_1', own)).code).toBe('RUN_NOT_FOUND');
    expect((await over('?workflow_name=secret', acme)).data['runs']).toHaveLength(1);
    expect((await over('?workflow_name=secret', own)).data['runs']).toEqual([]);

    const long = '2020-01-01T00:00:00Z';
    const clock = { ...Pawl.inside(on.app).engine.clock, now: () => Date.parse(long) };
    const then = await runStates({ store: on.url, log: SILENT, clock });
    onTestFinished(() => then.close());
    await then.track({ workflowName: 'secret', runId: 'run_reused_1' });
    await expect.poll(() => then.status('run_reused_1').then(({ status }) => status)).toBe('running');
    await on.app.start(deploy, null, { jobId: 'run_reused_1' });
    const shown = { workflow_name: 'deploy', status: 'queued', steps: [] };
    expect((await over('/run_reused_1', own)).data).toMatchObject(shown);
    expect(await on.cli.json('runs', 'show', 'run_reused_1')).toMatchObject(shown);
  });

  test('RST-10 a server is told of runs that are kept elsewhere', async () => {
    const on = await ground();
    const runs = await runStates({ store: `file:${join(on.folder, 'runs')}`, log: SILENT });
    onTestFinished(() => runs.close());
    await on.app.start(deploy, null, { jobId: 'run_else_1' });
    const tracker = await runs.track({ workflowName: 'elsewhere', runId: 'run_else_1' });
    await tracker.finish({ status: 'success' });
    expect((await on.ask('GET', `${ROOT}/run_else_1`)).data).toMatchObject({ workflow_name: 'deploy' });
    const serving = await serve(on.app, {
      port: 0,
      dashboard: false,
      runs: `file:${join(on.folder, 'runs')}`,
    });
    onTestFinished(() => serving.close());
    const { data } = (await (await fetch(`${serving.url}${ROOT}/run_else_1`)).json()) as { data: unknown };
    expect(data).toEqual(await runs.status('run_else_1'));
  });
});
