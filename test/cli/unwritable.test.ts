import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectWritable, writing } from '../../src/cli/write-file.js';
import { cliOn, type Ended } from './in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-unwritable-'));
const at = (name: string): string => join(folder, name);
const store = `sqlite:${at('pawl.db')}`;
const pawl = cliOn(store, { cwd: folder });
beforeAll(async () => {
  await pawl('start', 'a');
  writeFileSync(at('file'), '');
  mkdirSync(at('folder'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** One sentence with a code; an exception of ours would have had its stack there, and exit code 70. */
function expectError(
  { code, out, err }: Ended,
  expected: { exit: number; code: string; named: string },
): void {
  expect([code, out]).toEqual([expected.exit, '']);
  expect(err).toMatch(new RegExp(`^pawl: ${expected.code}: .*\\n$`));
  expect(err).toContain(expected.named);
}

describe('a file that cannot be written is told, with its name', () => {
  const places = ['no/such/x', 'file/x', 'folder'];

  test.each(places)('pawl export --out %s', async (place) => {
    const ended = await pawl('export', '--all', '--out', at(place));
    expectError(ended, { exit: 2, code: 'FILE_UNWRITABLE', named: at(place) });
  });

  test.each(places)('pawl matrix --report %s, before any trial', async (place) => {
    const ended = await cliOn('memory:', { cwd: folder })('matrix', '--trials', '1', '--report', place);
    expectError(ended, { exit: 2, code: 'FILE_UNWRITABLE', named: at(place) });
  });

  test('and nothing is left of it', () => {
    expect(readdirSync(folder).filter((name) => name.includes('partial') || name === 'no')).toEqual([]);
    expect(readdirSync(at('folder'))).toEqual([]);
  });

  test('one that can be written is not touched by being looked at', async () => {
    writeFileSync(at('old.md'), 'old');
    for (const name of ['old.md', 'new.md']) await expectWritable(at(name));
    expect(readFileSync(at('old.md'), 'utf8')).toBe('old');
    expect(readdirSync(folder)).not.toContain('new.md');
  });

  test('a disk that is full is told like this too; what goes wrong besides is no matter of the file', async () => {
    const failing = (error: Error) => writing(at('x'), () => Promise.reject(error));
    const full = Object.assign(new Error('no space'), { syscall: 'write', code: 'ENOSPC' });
    await expect(failing(full)).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
      details: { file: at('x') },
    });
    await expect(failing(new TypeError('a bug'))).rejects.toThrow(/^a bug$/);
  });
});

test.each(['conformance', 'matrix --trials 1'])(
  'pawl %s in a folder that is not there, or is none: the store cannot be had',
  async (line) => {
    for (const place of ['no/such/x.db', 'file/x.db']) {
      const ended = await cliOn(`sqlite:${at(place)}`)(...line.split(' '));
      expectError(ended, { exit: 75, code: 'STORE_UNAVAILABLE', named: join(at(place), '..') });
    }
  },
);

test.each(['migrate --verify', 'verify', 'export --all', 'doctor --restored', 'jobs list'])(
  'pawl %s changes nothing, so it makes no file of a mistyped name',
  async (line) => {
    const ended = await cliOn(`sqlite:${at('pwal.db')}`)(...line.split(' '));
    expectError(ended, {
      exit: 75,
      code: 'STORE_UNAVAILABLE',
      named: `there is no database ${at('pwal.db')}`,
    });
    expect(readdirSync(folder).filter((name) => name.startsWith('pwal'))).toEqual([]);
  },
);

test.each(['doctor', 'doctor --restored', 'migrate', 'migrate --dry-run', 'conformance'])(
  'pawl %s on the address of a server is refused: it is no Postgres',
  async (line) => {
    const ended = await cliOn('https://127.0.0.1:1')(...line.split(' '));
    expectError(ended, { exit: 2, code: 'REMOTE_UNSUPPORTED', named: 'server' });
  },
);
