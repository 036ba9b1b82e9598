import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Pawl } from '../../src/client/pawl.js';
import { serve } from '../../src/http/serve.js';
import { pawl, runStates, task, type RunStates, type RunSummary } from '../../src/index.js';
import { cliOn, type InProcess } from '../cli/in-process.js';
import { SILENT } from '../runner/apply-text.js';
import { expectContract } from './api-rig.js';

export const ROOT = '/api/v1/runs';
const WORKFLOW = `version: 1
name: deploy
inventory: { hosts: { a: { connection: local }, b: { connection: local } } }
steps:
  - { name: copy, action: cmd.run, when: host.name == 'a', args: { cmd: [echo, copied] } }
  - { name: check, action: shell.run, args: { script: 'test {{ host.name }} = a' }, continue_on_error: true }
  - { name: install, action: shell.run, args: { script: 'echo no space >&2; test {{ host.name }} = b' } }
`;
export const deploy = task({ name: 'deploy' }, () => 1);

type Said = { readonly status: number; readonly data: Record<string, unknown>; readonly code: string | null };
export type Ground = {
  readonly url: string;
  readonly folder: string;
  readonly app: Pawl;
  readonly cli: InProcess;
  readonly ask: (
    method: 'GET' | 'POST',
    path: string,
    options?: { body?: object; key?: string },
  ) => Promise<Said>;
};

/** A server, the CLI and programs on one database. */
export async function ground(): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-tracked-'));
  const url = `sqlite:${join(folder, 'pawl.db')}`;
  writeFileSync(join(folder, 'deploy.yaml'), WORKFLOW);
  const app = await pawl({ store: url, tasks: [deploy], log: SILENT });
  const serving = await serve(app, { port: 0, dashboard: false });
  onTestFinished(async () => {
    await serving.close();
    await app.close();
    rmSync(folder, { recursive: true });
  });
  const ask: Ground['ask'] = async (method, path, { body, key } = {}) => {
    const response = await fetch(`${serving.url}${path}`, {
      method,
      headers: {
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(key ? { authorization: `Bearer ${key}` } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const said = (await response.json()) as { data?: Record<string, unknown>; error?: { code: string } };
    expectContract(method, path, response.status, said);
    return { status: response.status, data: said.data ?? {}, code: said.error?.code ?? null };
  };
  return { url, folder, app, cli: cliOn(url, { cwd: folder }), ask };
}

export const listed = async (
  { ask }: Ground,
  query: string,
): Promise<{ ids: string[]; runs: RunSummary[] }> => {
  const { data } = await ask('GET', `${ROOT}?${query}`);
  const runs = data['runs'] as RunSummary[];
  return { ids: runs.map(({ run_id }) => run_id), runs };
};

/** Runs of the API, as a program has them. */
export async function statesOf({ url }: Ground): Promise<RunStates> {
  const runs = await runStates({ store: url, log: SILENT });
  onTestFinished(() => runs.close());
  return runs;
}

/** A run that is tracked, whose tracker has died in the middle of a step; its job is there and nobody runs it. */
export async function orphan(
  on: Ground,
  runId: string,
  options: { name?: string; tenantId?: string } = {},
): Promise<RunStates> {
  const { name: workflowName = 'deploy-all', ...rest } = options;
  const runs = await statesOf(on);
  await on.app.start(deploy, null, { jobId: runId, ...rest });
  const tracker = await runs.track({ workflowName, runId });
  tracker.stepStart({ step: 'copy' });
  tracker.hostStart({ step: 'copy', host: 'a' });
  await tracker.flush();
  await tracker.leave();
  return runs;
}
