import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainText } from '../../src/cli/plain-text.js';
import { RunBoard } from '../../src/cli/run-board.js';
import { watchRun } from '../../src/cli/watch-run.js';
import { runSnapshot } from '../../src/http/views.js';
import type { RunSnapshot } from '../../src/index.js';
import { fakeClock, T0 } from '../../src/testkit/index.js';
import { cliOn, type InProcess } from './in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-cli-apply-'));
let pawl: InProcess;
beforeAll(() => {
  pawl = cliOn(`sqlite:${join(folder, 'pawl.db')}`, { cwd: folder });
  const text = `version: 1
name: colours
inventory: { hosts: { a: { connection: local }, b: { connection: local } } }
steps:
  - { name: show, action: shell.run, args: { script: 'printf "\\033[31mred\\033[0m {{ host.name }}\\n"' } }
  - { name: fail, action: shell.run, targets: a, args: { script: 'printf "\\033]0;title\\007\\033[2Jgone" >&2; exit 1' } }
`;
  writeFileSync(join(folder, 'colours.yaml'), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('pawl apply', () => {
  test('RST-13 --plan shows what would run, and runs nothing', async () => {
    const { code, out } = await pawl('apply', 'colours.yaml', '--plan');
    expect([code, out.split('\n')[0]]).toEqual([0, 'colours: 2 steps on 2 hosts']);
    const plan = await pawl.json<{ steps: { name: string }[] }>('apply', 'colours.yaml', '--plan');
    expect(plan.steps.map(({ name }) => name)).toEqual(['show', 'fail']);
    expect((await pawl('runs', 'list')).code).toBe(75);
  });

  test('RST-10 a run is answered in the shape of the HTTP API, by apply, runs show and runs status alike', async () => {
    const { code, out } = await pawl('apply', 'colours.yaml', '--run-id', 'run_colours_1', '--json');
    expect(code).toBe(1);
    const applied = JSON.parse(out) as { run_id: string; status: string; run: RunSnapshot };
    expect([applied.run_id, applied.status]).toEqual(['run_colours_1', 'failed']);
    const shown = await pawl.json('runs', 'show', 'run_colours_1');
    expect(runSnapshot.parse(shown)).toEqual(applied.run);
    expect(await pawl.json('runs', 'status', 'run_colours_1')).toEqual(shown);
    const { runs } = await pawl.json<{ runs: unknown[] }>(
      'runs',
      'list',
      '--status',
      'failed',
      '--workflow',
      'colours',
    );
    expect(runs).toEqual([runSnapshot.omit({ steps: true }).strip().parse(shown)]);
    expect((await pawl('runs', 'show', 'run_nobody_1')).code).toBe(2);
  });

  test('RST-10 a job that nobody tracks is shown as a run all the same', async () => {
    const { job_id } = await pawl.json<{ job_id: string }>('start', 'order', '{}');
    const run = runSnapshot.parse(await pawl.json('runs', 'show', job_id));
    expect(run).toMatchObject({ run_id: job_id, workflow_name: 'order', status: 'queued' });
  });

  test('what is wrong with the file is told with its places, and exit code 2', async () => {
    writeFileSync(
      join(folder, 'wrong.yaml'),
      'version: 1\nname: x\nsteps:\n  - { name: a, action: no }\n  - {}\n',
    );
    const { code, err } = await pawl('apply', 'wrong.yaml');
    expect(code).toBe(2);
    expect(err).toContain('wrong.yaml:4:24: there is no action');
    expect(err).toContain("wrong.yaml:5:5: steps[1] needs 'name'");
    expect((await pawl('apply', 'missing.yaml')).err).toContain('FILE_UNREADABLE');
  });

  test('RST-5 a run id that is none is refused under the name of its option, before there is a store', async () => {
    const { code, err } = await pawl('apply', 'colours.yaml', '--run-id', 'r1');
    expect(code).toBe(2);
    expect(err).toContain('INVALID_OPTION: --run-id takes 8 to 128 letters, digits and . _ : -');
  });

  test('RST-13 what hosts write does nothing to the terminal: neither in lines, nor in the summary', async () => {
    const { out, err } = await pawl('apply', 'colours.yaml', '--watch');
    expect(`${out}${err}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    expect(err).toContain('  fail on a: failed  exit 1: gone');
    expect(out).toContain('failed fail on a: exit 1: gone');
    expect(plainText('\u001b[1;31mred\u001b[0m\u001b]0;t\u0007 a\r\nb\u001b(B')).toBe('red a b');
  });
});

describe('RST-13 the live view', () => {
  test('each step has its bar and counts; failures come first and stay, of those under way a few are shown', () => {
    const board = new RunBoard(new Map([['copy', 200]]), () => undefined);
    board.stepStart({ step: 'copy' });
    for (let n = 0; n < 100; n++) board.hostStart({ step: 'copy', host: `h${n}` });
    for (let n = 0; n < 50; n++)
      board.hostResult({
        step: 'copy',
        host: `h${n}`,
        status: n % 25 === 0 ? 'failed' : 'success',
        message: n % 25 === 0 ? 'no space' : null,
      });
    board.output({ step: 'copy', host: 'h50', text: 'line 1\n\u001b[32mhalf way\n' });
    expect(board.lines(80)).toEqual([
      '… copy [#####...............] 50/200',
      '    ✗ h0  no space',
      '    ✗ h25  no space',
      '    … h50  half way',
      ...[51, 52, 53, 54].map((n) => `    … h${n}  `),
      '    … and 45 more',
    ]);
    board.stepFinish({ step: 'copy', status: 'failed', message: 'failed on 2 of 200 hosts' });
    expect(board.lines(80)).toEqual([
      '✗ copy 50/200  failed on 2 of 200 hosts',
      '    ✗ h0  no space',
      '    ✗ h25  no space',
    ]);
  });

  test('on a terminal it is drawn over itself, at most ten times a second', () => {
    const clock = fakeClock(T0);
    const written: string[] = [];
    const console = {
      out: () => undefined,
      err: (text: string) => void written.push(text),
      isTerminal: true,
    };
    const { recorder, stop } = watchRun(console, { totals: new Map([['s', 1_000]]), clock });
    recorder.stepStart?.({ step: 's' });
    for (let n = 0; n < 1_000; n++) recorder.hostStart?.({ step: 's', host: `h${n}` });
    expect(written).toEqual([]);
    clock.advance(100);
    clock.advance(1_000);
    expect(written.length).toBe(1);
    recorder.stepFinish?.({ step: 's', status: 'success' });
    stop();
    expect(written.length).toBe(2);
    // Seven lines up: the step, five hosts, and how many more.
    expect(written[1]?.startsWith('\u001b[7A\r\u001b[J✓ s')).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
