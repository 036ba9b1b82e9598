import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { RunSnapshot } from '../../src/index.js';
import { LONG } from '../long-mode.js';
import { bundled } from '../bundled.js';

const root = mkdtempSync(join(tmpdir(), 'pawl-apply-'));
const program = join(await bundled(), 'src/cli/main.js');
const alive = new Set<ChildProcess>();

afterAll(() => {
  for (const child of alive) child.kill('SIGKILL');
  rmSync(root, { recursive: true });
});

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

/** The program in a process of its own, in a folder. */
function start(folder: string, ...args: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  alive.add(child);
  let [out, err] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (out += text.toString()));
  child.stderr.on('data', (text: Buffer) => (err += text.toString()));
  const ended = once(child, 'close').then(([code]) => {
    alive.delete(child);
    return { code: code as number | null, out, err };
  });
  return { child, ended };
}

const cli = (folder: string, ...args: readonly string[]): Promise<Ended> => start(folder, ...args).ended;

/** Until a file is there. */
async function untilThere(folder: string, name: string): Promise<void> {
  const watcher = watch(folder);
  try {
    while (!existsSync(join(folder, name))) await once(watcher, 'change');
  } finally {
    watcher.close();
  }
}

/** The first step counts how often it is run. The second has begun once `begun` is there, and then takes its time. */
function newRun(name: string, more: string): string {
  const folder = mkdtempSync(join(root, `${name}-`));
  const slow = `echo x >> begun-times; touch begun; while [ ! -f go-on ]; do sleep 0.05; done; touch finished`;
  const text = `version: 1
name: deploy
inventory: { hosts: { here: { connection: local } } }
steps:
  - { name: first, action: shell.run, args: { script: 'echo x >> first-times' } }
  - { name: slow, action: shell.run, args: { script: '${slow}' }${more} }
  - { name: last, action: cmd.run, args: { cmd: [touch, last] } }
`;
  writeFileSync(join(folder, 'deploy.yaml'), text);
  return folder;
}

const times = (folder: string, name: string): number =>
  readFileSync(join(folder, name), 'utf8').split('\n').length - 1;
const APPLY = ['apply', 'deploy.yaml', '--run-id', 'run_killed_1', '--lease', '3s'];

async function show(folder: string): Promise<RunSnapshot> {
  const { out } = await cli(folder, 'runs', 'show', 'run_killed_1', '--json');
  return JSON.parse(out) as RunSnapshot;
}

/** Begins a run, and kills it in the middle of its second step. */
async function killedIn(folder: string): Promise<void> {
  const { child, ended } = start(folder, ...APPLY);
  await untilThere(folder, 'begun');
  while (!(await show(folder)).steps.some(({ name }) => name === 'slow'));
  child.kill('SIGKILL');
  await ended;
}

/** Three steps on three hosts. Each action leaves a line that is counted, and a probe finds it. (`grep` alone ends with 2 where there is no file yet, which tells nothing.) */
const GRID = `version: 1
name: grid
inventory: { hosts: { a: { connection: local }, b: { connection: local }, c: { connection: local } } }
steps:
${['one', 'two', 'three']
  .map(
    (step) =>
      `  - { name: ${step}, action: shell.run, args: { script: 'echo {{ host.name }} >> ${step}; sleep 0.2' }, ` +
      `probe: [sh, -c, 'test -f ${step} && grep -q {{ host.name }} ${step}'], probe_after: 100ms }`,
  )
  .join('\n')}
`;
const GRID_RUN = ['apply', 'grid.yaml', '--run-id', 'run_grid_1', '--lease', '3s'];

/** What may be said of a job whose only process is dead, by the status of its run. */
const EXPLAINED: Readonly<Record<string, readonly string[]>> = {
  queued: ['no_worker', 'about_to_run', 'worker_gone', 'running'],
  running: ['worker_gone', 'running', 'about_to_run', 'no_worker', 'finished'],
  success: ['finished'],
};
const KILLS = LONG ? 60 : 4;

describe('RST-13 a run whose process is killed in the middle of an action', () => {
  test('RST-9 can be asked for; applied again it goes on, and the probe tells that the action has happened', async () => {
    const folder = newRun('happened', ', probe: [test, -f, finished], probe_after: 100ms');
    await killedIn(folder);
    expect(await show(folder)).toMatchObject({
      run_id: 'run_killed_1',
      status: 'running',
      steps: [
        { name: 'first', status: 'success' },
        { name: 'slow', status: 'running', hosts: { here: { status: 'running' } } },
      ],
    });
    // The command went on without the process that had begun it.
    writeFileSync(join(folder, 'go-on'), '');
    await untilThere(folder, 'finished');
    const { code, out, err } = await cli(folder, ...APPLY, '--json');
    expect(err).toBe('');
    expect(code).toBe(0);
    const { status, run } = JSON.parse(out) as { status: string; run: RunSnapshot };
    expect(status).toBe('success');
    expect(run.steps.map((step) => [step.name, step.status])).toEqual([
      ['first', 'success'],
      ['slow', 'success'],
      ['last', 'success'],
    ]);
    expect([times(folder, 'first-times'), times(folder, 'begun-times')]).toEqual([1, 1]);
    expect(await show(folder)).toEqual(run);
  });

  test('without a probe nothing is repeated: the run waits, says why, and goes on when somebody has decided', async () => {
    const folder = newRun('parked', '');
    await killedIn(folder);
    writeFileSync(join(folder, 'go-on'), '');
    await untilThere(folder, 'finished');
    const again = start(folder, ...APPLY, '--watch');
    const unknown = async (): Promise<boolean> =>
      (await cli(folder, 'effects', '--json')).out.includes('slow@here');
    while (!(await unknown()));
    const step = (await show(folder)).steps.find(({ name }) => name === 'slow');
    expect(step?.hosts['here']?.message).toContain('pawl effects resolve run_killed_1');
    expect(existsSync(join(folder, 'last'))).toBe(false);
    const decided = await cli(
      folder,
      'effects',
      'resolve',
      'run_killed_1',
      'slow@here',
      '--happened',
      '--by',
      'ann',
    );
    expect(decided.code).toBe(0);
    const { code, out, err } = await again.ended;
    expect([code, out]).toEqual([0, expect.stringContaining('Run run_killed_1 (deploy): success')]);
    expect(err).toContain('nobody knows how it ended');
    expect([times(folder, 'first-times'), times(folder, 'begun-times')]).toEqual([1, 1]);
    expect(existsSync(join(folder, 'last'))).toBe(true);
  });

  test('stopped by a signal, it says how it goes on in the very store that it was given', async () => {
    const folder = newRun('elsewhere', '');
    const given = ['--store', 'sqlite:else where.db', '--runs', 'file:states'];
    const { child, ended } = start(folder, ...APPLY, '--drain', '100ms', ...given);
    await untilThere(folder, 'begun');
    child.kill('SIGINT');
    const { code, err } = await ended;
    expect(code).toBe(75);
    expect(err).toContain(
      "pawl apply deploy.yaml --run-id run_killed_1 --store 'sqlite:else where.db' --runs file:states\n",
    );
    writeFileSync(join(folder, 'go-on'), '');
  });

  test('stopped by a signal, it says how it goes on; cancelled, it ends as canceled', async () => {
    const folder = newRun('stopped', '');
    const { child, ended } = start(folder, ...APPLY, '--drain', '100ms');
    await untilThere(folder, 'begun');
    child.kill('SIGTERM');
    const { code, err } = await ended;
    expect(code).toBe(75);
    expect(err).toContain('pawl apply deploy.yaml --run-id run_killed_1\n');
    expect((await cli(folder, 'jobs', 'cancel', 'run_killed_1')).code).toBe(0);
    const after = await cli(folder, ...APPLY, '--json');
    expect(after.code).toBe(3);
    expect(await show(folder)).toMatchObject({ status: 'canceled' });
    const listed = await cli(folder, 'runs', 'list', '--status', 'canceled', '--json');
    expect((JSON.parse(listed.out) as { runs: unknown[] }).runs.length).toBe(1);
  });
});

describe(
  `RST-9 a run whose process is killed at one of ${KILLS} moments of its life`,
  { timeout: 600_000 },
  () => {
    const newGrid = (): string => {
      const folder = mkdtempSync(join(root, 'grid-'));
      writeFileSync(join(folder, 'grid.yaml'), GRID);
      return folder;
    };

    /** Kills a run so long after it has made its store, asks for what it left behind, and goes on with it. */
    async function trial(killAfterMs: number): Promise<string> {
      const folder = newGrid();
      const { child, ended } = start(folder, ...GRID_RUN);
      await untilThere(folder, 'pawl.db');
      await new Promise((resolve) => setTimeout(resolve, killAfterMs));
      child.kill('SIGKILL');
      const { out } = await ended;
      const shown = await cli(folder, 'runs', 'show', 'run_grid_1', '--json');
      const why = await cli(folder, 'jobs', 'why', 'run_grid_1', '--json');
      const found = shown.code === 0 ? (JSON.parse(shown.out) as RunSnapshot).status : 'none';
      if (found === 'none') {
        // Nothing has begun that is not told.
        expect([shown.err, out]).toEqual([expect.stringMatching(/JOB_NOT_FOUND|STORE_/), '']);
        expect(existsSync(join(folder, 'one'))).toBe(false);
      } else {
        expect(['queued', 'running', 'success']).toContain(found);
        expect([why.code, why.err]).toEqual([0, '']);
        const { code } = JSON.parse(why.out) as { code: string };
        expect(EXPLAINED[found], found).toContain(code);
      }
      const again = await cli(folder, ...GRID_RUN, '--json');
      expect([again.code, again.err]).toEqual([0, '']);
      const { run } = JSON.parse(again.out) as { run: RunSnapshot };
      expect(run.status).toBe('success');
      for (const step of ['one', 'two', 'three']) {
        const lines = readFileSync(join(folder, step), 'utf8').trim().split('\n');
        expect(lines.toSorted(), `step ${step}, killed after ${killAfterMs} ms`).toEqual(['a', 'b', 'c']);
      }
      return found;
    }

    test('is queried and explained, and goes on to its end with each action done once', async () => {
      const whole = newGrid();
      const { ended } = start(whole, ...GRID_RUN);
      await untilThere(whole, 'pawl.db');
      const begun = performance.now();
      expect((await ended).code).toBe(0);
      const lifeMs = performance.now() - begun;
      const found: string[] = [];
      for (let n = 0; n < KILLS; n += 2) {
        const pair = [n, n + 1].map((m) => trial((lifeMs * (m + 0.5)) / KILLS));
        found.push(...(await Promise.all(pair)));
      }
      expect(found, 'some were killed while they ran').toContain('running');
    });
  },
);
