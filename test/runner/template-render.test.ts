import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { actionCommand } from '../../src/runner/action-command.js';
import { applyText, newFolder, statuses } from './apply-text.js';

const isRoot = process.getuid?.() === 0;

/** Shells that hosts have as /bin/sh, as far as they are installed here. */
const SHELLS = [['/bin/sh'], ['dash'], ['bash', '--posix'], ['busybox', 'sh']].filter(
  ([program = '', ...args]) => spawnSync(program, [...args, '-c', ':']).status === 0,
);

type Wanted = { readonly dest: string; readonly mode?: string };

/** What is run on a host whose files are made for the owner, and to be read by the group. */
function words({ dest, mode }: Wanted, shell: readonly string[] = ['/bin/sh']): [string, string[]] {
  const args = { dest, content: '', ...(mode === undefined ? {} : { mode }) };
  const { argv } = actionCommand({ action: 'template.render', timeoutMs: 1 }, args, { files: {}, env: {} });
  return ['/bin/sh', ['-c', 'umask 027; exec "$@"', 'sh', ...shell, ...argv.slice(1)]];
}

function newFile(content: string, mode: number): string {
  const path = join(newFolder(), "it's * a [file]");
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe.each(SHELLS.map((shell) => [shell.join(' '), shell] as const))(
  'RST-13 the mode of a file that template.render writes, by %s',
  (_title, shell) => {
    const render = (wanted: Wanted, content: string): string => {
      const { stdout, stderr } = spawnSync(...words(wanted, shell), { input: content, encoding: 'utf8' });
      expect(stderr).toBe('');
      expect(readdirSync(dirname(wanted.dest)).length).toBe(1);
      return stdout.trim();
    };

    test('another mode is a change, though the content is the same', () => {
      const dest = newFile('same', 0o644);
      expect([render({ dest, mode: '600' }, 'same'), modeOf(dest)]).toEqual(['changed', '600']);
      expect([render({ dest, mode: '0600' }, 'same'), modeOf(dest)]).toEqual(['unchanged', '600']);
      expect([render({ dest }, 'same'), modeOf(dest)]).toEqual(['unchanged', '600']);
      expect([render({ dest, mode: '640' }, 'other'), modeOf(dest)]).toEqual(['changed', '640']);
      chmodSync(dest, 0o4755);
      expect([render({ dest, mode: '755' }, 'other'), modeOf(dest)]).toEqual(['changed', '755']);
    });

    test.each(['600', '444', '7', '666', '755'])('without a mode, a file of %s keeps it', (mode) => {
      const dest = newFile('old', Number.parseInt(mode, 8));
      expect(render({ dest }, 'new')).toBe('changed');
      expect([readFileSync(dest, 'utf8'), modeOf(dest)]).toEqual(['new', mode]);
    });

    test('new content does not run as somebody else; the same content stays as it was', () => {
      const dest = newFile('old', 0o6754);
      expect([render({ dest }, 'old'), modeOf(dest)]).toEqual(['unchanged', '6754']);
      expect([render({ dest }, 'new'), modeOf(dest)]).toEqual(['changed', '754']);
    });

    test('a new file has the mode that is asked for, or else the usual one', () => {
      const dest = join(newFolder(), 'conf');
      const other = join(newFolder(), 'conf');
      expect([render({ dest }, 'new'), modeOf(dest)]).toEqual(['changed', '640']);
      expect([render({ dest: other, mode: '664' }, 'new'), modeOf(other)]).toEqual(['changed', '664']);
    });

    test.runIf(isRoot)('owner and group stay, where that may be (this is run as root)', () => {
      const dest = newFile('old', 0o640);
      chownSync(dest, 12_345, 23_456);
      expect(render({ dest }, 'new')).toBe('changed');
      expect(render({ dest, mode: '600' }, 'new')).toBe('changed');
      expect(statSync(dest)).toMatchObject({ uid: 12_345, gid: 23_456 });
    });
  },
);

describe('RST-13 template.render', () => {
  test.each([
    ['with a mode', '644', null],
    ['in the place of a file', undefined, 0o644],
  ])('nobody else can read what it writes %s, before it is in its place', async (_title, mode, before) => {
    const folder = newFolder();
    const dest = join(folder, 'conf');
    if (before !== null) writeFileSync(dest, 'old', { mode: before });
    const child = spawn(...words({ dest, ...(mode === undefined ? {} : { mode }) }));
    const ended = new Promise((resolve) => void child.once('close', resolve));
    child.stdin.write('secret');
    const written = (): string | undefined =>
      readdirSync(folder)
        .map((name) => join(folder, name))
        .find((path) => path !== dest && readFileSync(path, 'utf8') === 'secret');
    const path = await vi.waitUntil(written, { timeout: 200_000 });
    expect(modeOf(path)).toBe('600');
    child.stdin.end();
    expect(await ended).toBe(0);
    expect([readFileSync(dest, 'utf8'), modeOf(dest), existsSync(path)]).toEqual(['secret', '644', false]);
  });

  test('a mode that has changed notifies handlers', async () => {
    const dest = newFile('same', 0o644);
    const text = `steps: [{ name: conf, action: template.render, targets: a, args: { content: same, dest: ${JSON.stringify(dest)}, mode: '600' }, notify: [reload] }]
handlers: [{ name: reload, action: cmd.run, args: { cmd: ['true'] } }]`;
    expect(statuses(await applyText(text))).toEqual({ conf: { a: 'success' }, reload: { a: 'success' } });
    expect(statuses(await applyText(text))).toEqual({ conf: { a: 'success' } });
  });
});
