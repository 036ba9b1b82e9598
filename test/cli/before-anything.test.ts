import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cliOn } from './in-process.js';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-before-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const WORKFLOW = `version: 1
name: w
steps: [{ name: a, action: shell.run, args: { script: 'echo hi' } }]
`;

describe('what is wrong with a command line is found before anything is begun', () => {
  test('a time to wait that is none starts no job', async () => {
    const pawl = cliOn(`sqlite:${join(newFolder(), 'pawl.db')}`);
    await pawl.json('start', 'first');
    expect(await pawl('start', 'second', '--wait', '--timeout', 'abc')).toMatchObject({
      code: 2,
      err: expect.stringContaining('INVALID_OPTION: timeout is "abc"') as string,
    });
    const { jobs } = await pawl.json<{ jobs: { job_type: string }[] }>('jobs', 'list');
    expect(jobs.map(({ job_type }) => job_type)).toEqual(['first']);
  });

  test.each([
    ['--lease', 'abc'],
    ['--drain', '1x'],
  ])('apply %s %s starts no run', async (flag, value) => {
    const cwd = newFolder();
    writeFileSync(join(cwd, 'w.yaml'), WORKFLOW);
    const pawl = cliOn(`sqlite:${join(cwd, 'pawl.db')}`, { cwd });
    expect(await pawl('apply', 'w.yaml', flag, value)).toMatchObject({ code: 2, out: '' });
    expect(existsSync(join(cwd, 'pawl.db'))).toBe(false);
  });

  test.each(['', 'a\u0007b', 'x'.repeat(201)])('no queue is called %j', async (queue) => {
    const pawl = cliOn(`sqlite:${join(newFolder(), 'pawl.db')}`);
    await pawl.json('start', 'first');
    for (const verb of ['pause', 'resume']) {
      expect(await pawl('queues', verb, queue)).toMatchObject({
        code: 2,
        err: expect.stringContaining('is no name of a queue') as string,
      });
    }
    expect(await pawl.json('queues', 'list')).toEqual({ queues: [], paused: [] });
  });
});

describe('RST-4 a command on a store in memory says that nothing of it is kept, once', () => {
  const WARNING = /"level":"warn".*persistent storage is not enabled/g;

  test('start, and those that would find nothing there', async () => {
    const pawl = cliOn('memory:');
    const started = await pawl('start', 'x');
    expect([started.code, started.err.match(WARNING)?.length]).toEqual([0, 1]);
    expect((await pawl('jobs', 'list')).err.match(WARNING)).toHaveLength(1);
    expect((await pawl('runs', 'show', 'run_nobody')).err.match(WARNING)).toHaveLength(1);
    const kept = cliOn(`sqlite:${join(newFolder(), 'pawl.db')}`);
    expect((await kept('start', 'x')).err).toBe('');
  });

  test('apply, for the job, or only for the state of the run', async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, 'w.yaml'), WORKFLOW);
    const applied = await cliOn('memory:', { cwd })('apply', 'w.yaml');
    expect([applied.code, applied.err.match(WARNING)?.length]).toEqual([0, 1]);
    const kept = cliOn(`sqlite:${join(cwd, 'pawl.db')}`, { cwd });
    expect((await kept('apply', 'w.yaml', '--runs', 'memory:')).err.match(WARNING)).toHaveLength(1);
    expect((await kept('apply', 'w.yaml')).err).not.toMatch(WARNING);
  });
});

describe('RST-10 runs that are kept elsewhere', () => {
  test('are listed, shown and reconciled without a store of jobs, and without one being made', async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, 'w.yaml'), WORKFLOW);
    const runs = ['--runs', `file:${join(cwd, 'runs')}`];
    await cliOn('memory:', { cwd })('apply', 'w.yaml', '--run-id', 'run_elsewhere', ...runs);
    const pawl = cliOn(`sqlite:${join(cwd, 'none.db')}`, { cwd });
    const { runs: found } = await pawl.json<{ runs: { run_id: string }[] }>('runs', 'list', ...runs);
    expect(found.map(({ run_id }) => run_id)).toEqual(['run_elsewhere']);
    expect(await pawl.json('runs', 'show', 'run_elsewhere', ...runs)).toMatchObject({ status: 'success' });
    const said = ['--outcome', 'success', '--reason', 'seen'];
    expect((await pawl('runs', 'reconcile', 'run_elsewhere', ...said, ...runs)).err).toContain(
      'INVALID_TRANSITION',
    );
    // Whether a run has a job, only the store of jobs can tell.
    for (const args of [
      ['show', 'run_nobody'],
      ['interrupt', '--reason', 'x'],
    ]) {
      expect((await pawl('runs', ...args, ...runs)).err).toContain('STORE_UNAVAILABLE');
    }
    expect(existsSync(join(cwd, 'none.db'))).toBe(false);
  });
});
