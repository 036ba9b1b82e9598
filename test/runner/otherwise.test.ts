import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { JobHandle, pawl, PawlError, type RunPatch } from '../../src/index.js';
import { apply, loadWorkflow } from '../../src/runner/index.js';
import { memoryRunStates } from '../../src/stores/memory/run-states.js';
import { applyText, newFolder, SILENT, statuses } from './apply-text.js';
import { fakeSsh } from './fake-ssh.js';

const ONE_HOST = '{ a: { connection: local } }';

describe('RST-13 a wait for somebody that goes wrong is a failure of its step', () => {
  const waiting = (more: string): string => `steps:
  - { name: go, action: wait.event, args: { event: go }, export: { who: '{{ event.by }}' }${more} }
  - { name: last, action: cmd.run, args: { cmd: ['true'] } }`;

  /** The run, once it was sent an event that says nothing. */
  async function sentNothing(text: string) {
    const store = `sqlite:${join(newFolder(), 'pawl.db')}`;
    const other = await pawl({ store, log: SILENT });
    onTestFinished(() => other.close());
    const onStarted = (runId: string): void => void other.job(runId).signal('go', {});
    return applyText(text, { store, runs: store, hosts: ONE_HOST, onStarted });
  }

  test('which ends the run, with what is wrong', async () => {
    expect((await sentNothing(waiting(''))).run).toMatchObject({
      status: 'failed',
      message: "step 'go': there is no variable 'event.by'",
      last_error: { code: 'WORKFLOW_FAILED' },
      steps: [{ name: 'go', status: 'failed' }],
    });
  });

  test('unless it is told to go on', async () => {
    expect((await sentNothing(waiting(', continue_on_error: true'))).run).toMatchObject({
      status: 'success',
      last_error: { code: 'STEP_FAILED', message: "step 'go': there is no variable 'event.by'" },
      steps: [{ status: 'failed' }, { name: 'last', status: 'success' }],
    });
  });
});

test('RST-12 a job that ends otherwise than its workflow would leaves no finished step as interrupted', async () => {
  const kept = memoryRunStates();
  const runs = {
    ...kept,
    // A store that takes its time: what is told meanwhile is yet to be written.
    updateRun: (patch: RunPatch, version: number) =>
      setTimeout(30, null).then(() => kept.updateRun(patch, version)),
  };
  const long = `'${'{{ said }}'.repeat(100)}'`;
  const applied = await applyText(
    `steps:
  - { name: say, action: shell.run, args: { script: 'head -c 15000 /dev/zero | tr "\\0" x' }, export: { said: '{{ result.stdout }}' } }
  - { name: more, action: cmd.run, args: { cmd: ['true'] } }
  - { name: huge, action: cmd.run, args: { cmd: [cat], stdin: ${long} } }`,
    { hosts: ONE_HOST, runs },
  );
  expect(applied.run).toMatchObject({ status: 'failed', last_error: { code: 'PAYLOAD_TOO_LARGE' } });
  expect(applied.run?.steps.map(({ name, status }) => [name, status])).toEqual([
    ['say', 'success'],
    ['more', 'success'],
    ['huge', 'interrupted'],
  ]);
});

test('GUA-11 a store that does not answer for a while is asked again, and the run goes on meanwhile', async () => {
  const down = new PawlError('STORE_UNAVAILABLE', { detail: 'it is being restarted' });
  const status = vi
    .spyOn(JobHandle.prototype, 'status')
    .mockRejectedValueOnce(down)
    .mockRejectedValueOnce(down);
  onTestFinished(() => status.mockRestore());
  const applied = await applyText(`steps: [{ name: s, action: cmd.run, args: { cmd: ['true'] } }]`);
  expect(applied.status).toBe('success');
  const broken = new PawlError('EVENT_UNREADABLE', { detail: 'it is something else' });
  status.mockRejectedValueOnce(broken);
  await expect(applyText(`steps: [{ name: s, action: cmd.run, args: { cmd: ['true'] } }]`)).rejects.toBe(
    broken,
  );
});

test('RST-13 wait.until asks again after a connection was lost, and says so if it is too late', async () => {
  const { calls } = fakeSsh();
  const asking = (host: string, every: string): string =>
    `steps: [{ name: up, action: wait.until, targets: ${host}, timeout: 1m, args: { cmd: ['true'], every: ${every} } }]`;
  const later = await applyText(asking('rebooting', '20ms'), { hosts: '{ rebooting: {}, lost: {} }' });
  expect(statuses(later)).toEqual({ up: { rebooting: 'success' } });
  expect(calls().length).toBe(3);
  const never = await applyText(asking('lost', '2m'), { hosts: '{ rebooting: {}, lost: {} }' });
  expect(never.run?.message).toContain("not in time: the connection to 'lost' was lost");
});

describe('RST-13 a run is the same', () => {
  test('however the path of its file is written, and not if another file that it names has changed', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'say.sh'), 'echo once >> log');
    writeFileSync(
      join(folder, 'w.yaml'),
      `version: 1\nname: w\nsteps: [{ name: s, action: script.shell, args: { file: say.sh, cwd: '${folder}' } }]`,
    );
    const store = `sqlite:${join(folder, 'pawl.db')}`;
    const again = async (path: string) =>
      apply(await loadWorkflow(path, { cwd: folder }), { store, runId: 'run_by_path', log: SILENT });
    for (const path of ['w.yaml', './w.yaml', join(folder, 'w.yaml')]) {
      expect(await again(path)).toMatchObject({ runId: 'run_by_path', status: 'success' });
    }
    writeFileSync(join(folder, 'say.sh'), 'echo twice >> log');
    await expect(again('w.yaml')).rejects.toMatchObject({ code: 'DUPLICATE' });
  });
});

test('RST-13 a duration that is none is refused before there is a job', async () => {
  const store = `sqlite:${join(newFolder(), 'pawl.db')}`;
  const text = `steps: [{ name: s, action: cmd.run, args: { cmd: ['true'] } }]`;
  for (const option of ['lease', 'drain']) {
    const refused = applyText(text, { store, runId: 'run_refused', [option]: '1x' });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { option } });
  }
  const app = await pawl({ store, log: SILENT });
  onTestFinished(() => app.close());
  await expect(app.job('run_refused').status()).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
});

test('RST-13 template.render does not put a file into a folder of that name', async () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'dest'));
  const applied = await applyText(
    `steps: [{ name: s, action: template.render, args: { content: x, dest: '${folder}/dest' } }]`,
    { hosts: ONE_HOST },
  );
  expect(applied.run?.message).toBe(`step 's' failed on a: exit 1: ${folder}/dest is a folder`);
  expect(readdirSync(folder)).toEqual(['dest']);
  expect(readdirSync(join(folder, 'dest'))).toEqual([]);
});

test('RST-9 a run that is given up while nobody works on it ends as interrupted, with the reason', async () => {
  const folder = newFolder();
  const store = `sqlite:${join(folder, 'pawl.db')}`;
  const lines = "steps: [{ name: long, action: cmd.run, args: { cmd: [sleep, '60'] } }]";
  const stopping = new AbortController();
  const options = { folder, store, runs: store, runId: 'run_given_up_1', hosts: ONE_HOST };
  const stopped = await applyText(lines, {
    ...options,
    drain: 0,
    signal: stopping.signal,
    recorders: [{ hostStart: () => stopping.abort() }],
  });
  expect(stopped.status).toBe('running');
  const app = await pawl({ store, log: SILENT });
  await app.abandon('run_given_up_1', { by: 'ann', reason: 'its machine is gone' });
  await app.close();
  const { status, run } = await applyText(lines, options);
  expect(status).toBe('interrupted');
  expect(run).toMatchObject({
    status: 'interrupted',
    interrupted_reason: run?.message,
    last_error: { code: 'ABANDONED' },
    steps: [{ name: 'long', status: 'interrupted', hosts: { a: { status: 'interrupted' } } }],
  });
});
