import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Logger } from '../ports/logger.js';
import { runStates } from './run-states.js';

const heard = (): { log: Logger; lines: string[] } => {
  const lines: string[] = [];
  const line = (message: string): void => void lines.push(message);
  return { lines, log: { debug: line, info: line, warn: line, error: line } };
};

test('RST-4 runs in memory come with one warning', async () => {
  const { log, lines } = heard();
  const runs = await runStates({ store: 'memory:', log });
  const tracker = await runs.track({ workflowName: 'deploy', runId: 'run_memory_1' });
  await tracker.finish({ status: 'success' });
  expect((await runs.list()).map(({ run_id, status }) => [run_id, status])).toEqual([
    ['run_memory_1', 'success'],
  ]);
  await runs.close();
  expect(lines).toEqual(['persistent storage is not enabled: runs are visible in this process only']);
});

test.each(['file', 'sqlite'])(
  'RST-9 runs in a %s store are there after a restart, ended or not',
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-runs-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const store = kind === 'file' ? `file:${join(folder, 'runs')}` : `sqlite:${join(folder, 'runs.db')}`;
    const { log, lines } = heard();
    const before = await runStates({ store, log });
    const done = await before.track({ workflowName: 'deploy', runId: 'run_done_1' });
    await done.finish({ status: 'failed', error: { code: 'EXIT_1', message: 'no space' } });
    const left = await before.track({ workflowName: 'deploy', runId: 'run_left_1' });
    left.stepStart({ step: 'copy' });
    await left.flush();
    await before.close();

    const after = await runStates({ store, log });
    expect(await after.status('run_done_1')).toMatchObject({
      status: 'failed',
      last_error: { code: 'EXIT_1', message: 'no space' },
    });
    expect(await after.status('run_left_1')).toMatchObject({ status: 'running', steps: [{ name: 'copy' }] });
    expect(await after.markInterrupted('restart')).toEqual(['run_left_1']);
    await after.close();
    expect(lines).toEqual([]);
    if (kind === 'file') {
      expect(readFileSync(join(folder, 'runs/run_left_1.json'), 'utf8')).toMatch(
        /^{\n {2}"version": \d,\n {2}"run_id": "run_left_1",\n/,
      );
    }
  },
);

test('RST-9 what lies among the files and is no run, or a damaged one, keeps nobody from the others, and is told of', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-runs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const told: unknown[] = [];
  const quiet = (): void => undefined;
  const error: Logger['error'] = (_message, fields) => void told.push(fields?.['runId']);
  const log = { debug: quiet, info: quiet, warn: quiet, error };
  const before = await runStates({ store: `file:${folder}`, log });
  for (const runId of ['run_left_1', 'run_torn_1']) {
    const tracker = await before.track({ workflowName: 'deploy', runId });
    tracker.stepStart({ step: 'copy' });
    await tracker.flush();
  }
  await before.close();
  writeFileSync(join(folder, 'notes.json'), '{}');
  writeFileSync(join(folder, 'zzz-notes.json'), '{}');
  mkdirSync(join(folder, 'zzz-folder.json'));
  writeFileSync(join(folder, 'run_torn_1.json'), '{"run_id": "run_to');
  const abandoned = join(folder, 'run_torn_1.json.9.next');
  writeFileSync(abandoned, '{}');
  utimesSync(abandoned, 0, 0);

  const after = await runStates({ store: `file:${folder}`, log });
  expect(await after.markInterrupted('restarted')).toEqual(['run_left_1']);
  expect((await after.list()).map(({ run_id }) => run_id)).toEqual(['run_left_1']);
  expect(told).toEqual(['run_torn_1', 'zzz-notes']);
  await expect(after.status('run_torn_1')).rejects.toMatchObject({ code: 'RUN_STATE_UNREADABLE' });
  expect(readFileSync(abandoned, 'utf8')).toBe('{}');
});

test('a store that nobody knows is an error', async () => {
  await expect(runStates({ store: 'redis://x' })).rejects.toMatchObject({ code: 'STORE_URL_INVALID' });
  await expect(runStates({ store: 'http://127.0.0.1:1' })).rejects.toMatchObject({
    code: 'REMOTE_UNSUPPORTED',
  });
  await expect(runStates({ store: 'memory:', throttle: 'soon' as '1s' })).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    details: { option: 'throttle' },
  });
});
