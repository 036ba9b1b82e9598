import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { systemClock as clock } from '../../../src/client/system-clock.js';
import { newRun } from '../../../src/contracts/index.js';
import { fileRunStates } from '../../../src/stores/file/file-run-states.js';
import { bundled } from '../../bundled.js';

const log = { error: () => undefined };
const root = mkdtempSync(join(tmpdir(), 'pawl-run-files-'));
const program = join(await bundled(), 'test/crash/run-files/killable-writer.js');

afterAll(() => rmSync(root, { recursive: true }));

type Writer = {
  readonly child: ChildProcess;
  readonly promised: () => number[];
  readonly hasWritten: (n: number) => Promise<void>;
};

function writer(folder: string, runId: string, name: string): Writer {
  const child = spawn(process.execPath, [program, folder, runId, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const promised = (): number[] => said.split('\n').slice(0, -1).map(Number);
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  return {
    child,
    promised,
    async hasWritten(n) {
      while (promised().length < n) await once(child.stdout, 'data');
    },
  };
}

/** Everything in the folder was last touched a minute ago. */
function age(folder: string): void {
  const minuteAgo = clock.now() / 1_000 - 60;
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), minuteAgo, minuteAgo);
}

test('RST-3 two processes change one run and are killed again and again: no promise is lost, no version promised twice, every state whole', async () => {
  const folder = join(root, 'killed');
  const runId = 'run:killed.1';
  const store = await fileRunStates({ folder, clock, log });
  await store.createRun(newRun({ run_id: runId, workflow_name: 'deploy', at: '2026-01-01T00:00:00Z' }));
  await store.updateRun({ run_id: runId, updated_at: '2026-01-01T00:00:00Z', status: 'running' }, 1);
  const promised: number[] = [];
  for (let round = 0; round < 5; round++) {
    const writers = ['a', 'b'].map((name) => writer(folder, runId, name));
    await Promise.race(writers.map(({ hasWritten }) => hasWritten(3 + 2 * round)));
    for (const { child } of writers) child.kill('SIGKILL');
    await Promise.all(writers.map(({ child }) => once(child, 'close')));
    promised.push(...writers.flatMap((one) => one.promised()));
    const run = await store.getRun(runId);
    expect(run?.version).toBeGreaterThanOrEqual(Math.max(...promised));
    expect(run?.steps[0]?.hosts[run.message ?? '']?.output?.length).toBeGreaterThan(20_000);
    age(folder);
  }
  expect(new Set(promised).size).toBe(promised.length);
  await fileRunStates({ folder, clock, log });
  expect(readdirSync(folder)).toEqual(['run+killed.1.json']);
});

test('RST-3 what a crash leaves behind is no run; a change that was whole is completed, one that was overtaken removed', async () => {
  const folder = join(root, 'left');
  const store = await fileRunStates({ folder, clock, log });
  const fresh = newRun({ run_id: 'run_left_1', workflow_name: 'deploy', at: '2026-01-01T00:00:00Z' });
  await store.createRun(fresh);
  const next = { ...fresh, version: 2, status: 'running' };
  writeFileSync(join(folder, 'run_left_1.json.2.next'), JSON.stringify(next));
  writeFileSync(join(folder, 'run_left_1.json.9.next'), JSON.stringify({ ...next, version: 9 }));
  writeFileSync(join(folder, `run_left_1.json.3.next.${process.pid}-7.partial`), '{"half');
  // Whoever made them may be at it still.
  await fileRunStates({ folder, clock, log });
  expect(readdirSync(folder).length).toBe(4);
  expect((await store.listRuns()).map(({ version }) => version)).toEqual([1]);
  const patch = { run_id: 'run_left_1', updated_at: '2026-01-01T00:00:00Z', message: 'mine' };
  await expect(store.updateRun(patch, 1)).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  age(folder);
  // Whoever comes across an abandoned change completes it, and is told to look again.
  await expect(store.updateRun(patch, 1)).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  expect(await store.getRun('run_left_1')).toMatchObject({ version: 2, status: 'running' });
  expect(await store.updateRun(patch, 2)).toBe(3);
  age(folder);
  await fileRunStates({ folder, clock, log });
  expect(readdirSync(folder)).toEqual(['run_left_1.json']);
});

test('RST-3 a damaged file is an error that names it, and harms no other run', async () => {
  const folder = join(root, 'damaged');
  const store = await fileRunStates({ folder, clock, log });
  for (const run_id of ['run_good_1', 'run_torn_1']) {
    await store.createRun(newRun({ run_id, workflow_name: 'deploy', at: '2026-01-01T00:00:00Z' }));
  }
  writeFileSync(join(folder, 'run_torn_1.json'), '{"version": 3, "run_id": "run_to');
  await expect(store.getRun('run_torn_1')).rejects.toMatchObject({
    code: 'RUN_STATE_UNREADABLE',
    message: expect.stringContaining('run_torn_1.json is no JSON') as string,
  });
  expect((await store.getRun('run_good_1'))?.version).toBe(1);
  writeFileSync(join(folder, 'run_torn_1.json'), JSON.stringify({ run_id: 'run_good_1' }));
  await expect(store.getRun('run_torn_1')).rejects.toMatchObject({ code: 'RUN_STATE_UNREADABLE' });
});
