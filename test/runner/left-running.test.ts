import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { runCommand, type Ended } from '../../src/runner/run-command.js';
import { fakeClock, type FakeClock } from '../../src/testkit/fake-clock.js';
import { applyText, newFolder, outputOf, statuses } from './apply-text.js';
import { isAlive } from './is-alive.js';

/** A folder in which a daemon writes its number down; it ends with the test. */
function daemonFolder(): { folder: string; pid: () => number } {
  const folder = newFolder();
  const pid = (): number => Number(readFileSync(join(folder, 'pid'), 'utf8'));
  onTestFinished(() => {
    if (isAlive(pid())) process.kill(pid(), 'SIGKILL');
  });
  return { folder, pid };
}

/** Has a session of its own, and the output of whoever starts it. The file is there before the command ends. */
const DAEMON =
  'setsid sh -c "echo \\$\\$ > pid.new; mv pid.new pid; exec sleep 600" & while ! test -f pid; do :; done;';

const HAS_SETSID = spawnSync('setsid', ['true']).status === 0;

describe.runIf(HAS_SETSID)('RST-13 a command that leaves something running', () => {
  test('ends when it ends, with all that it wrote, though a daemon holds its output', async () => {
    const { folder, pid } = daemonFolder();
    const script = `${DAEMON} head -c 30000 /dev/zero | tr '\\0' x; echo; echo end; echo problem >&2`;
    const applied = await applyText(
      `steps: [{ name: s, action: shell.run, targets: a, timeout: 20s, args: { script: ${JSON.stringify(script)}, cwd: '${folder}' }, export: { said: '{{ result.stdout }}' } }]\nexport: [said]`,
    );
    expect(statuses(applied)).toEqual({ s: { a: 'success' } });
    expect(applied.exported['a']?.['said']).toMatch(/^x{15000,}\nend$/);
    expect(outputOf(applied, 's', 'a')).toHaveLength(30_000 + '\nend\nproblem\n'.length);
    expect(isAlive(pid())).toBe(true);
  });

  test('the exit code is the command’s own', async () => {
    const { folder } = daemonFolder();
    const applied = await applyText(
      `steps: [{ name: s, action: shell.run, targets: a, timeout: 20s, args: { script: ${JSON.stringify(`${DAEMON} echo bad >&2; exit 7`)}, cwd: '${folder}' } }]`,
    );
    expect(applied.run?.steps[0]?.hosts['a']).toMatchObject({ status: 'failed', message: 'exit 7: bad' });
  });

  const timingOut = (script: string, folder: string): { clock: FakeClock; ended: Promise<Ended> } => {
    const clock = fakeClock(0);
    const command = { argv: ['sh', '-c', script], cwd: folder, env: {}, stdin: null, timeoutMs: 20_000 };
    const quiet = (): void => undefined;
    const { signal } = new AbortController();
    return { clock, ended: runCommand(command, { clock, signal, onStdout: quiet, onStderr: quiet }) };
  };

  test('a timeout is told in time, though a daemon that outlives it holds the output', async () => {
    const { folder } = daemonFolder();
    const { clock, ended } = timingOut(`${DAEMON} touch begun; wait`, folder);
    await vi.waitUntil(() => existsSync(join(folder, 'begun')), { timeout: 200_000 });
    clock.advance(20_000);
    clock.advance(5_000);
    clock.advance(500);
    expect(await ended).toMatchObject({ exit: null, timedOut: true, failure: null });
  });

  test('a timeout also ends what it started and does not want to end, though the command itself has', async () => {
    const { folder, pid } = daemonFolder();
    const stubborn = DAEMON.replace('setsid sh -c "', 'sh -c "trap : TERM; ').replace(
      'exec sleep 600',
      'while :; do sleep 600; done',
    );
    const { clock, ended } = timingOut(`${stubborn} echo $$ > own.new; mv own.new own; wait`, folder);
    const own = join(folder, 'own');
    await vi.waitUntil(() => existsSync(own), { timeout: 200_000 });
    clock.advance(20_000);
    await vi.waitUntil(() => !isAlive(Number(readFileSync(own, 'utf8'))), { timeout: 200_000 });
    expect(isAlive(pid())).toBe(true);
    clock.advance(5_000);
    expect(await ended).toMatchObject({ signal: 'SIGTERM', timedOut: true });
    await vi.waitUntil(() => !isAlive(pid()), { timeout: 200_000 });
  });
});
