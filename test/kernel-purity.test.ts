import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from './source-files.js';

/** What the kernel must not be able to say. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  'date-now': 'export const x = Date.now();',
  'new-date': 'export const x = new Date();',
  'math-random': 'export const x = Math.random();',
  process: 'export const x = process.env;',
  'node-module': "import { createHash } from 'node:crypto';\nexport const x = createHash;",
  'other-layer': "import { utc } from '../contracts/utc.js';\nexport const x = utc;",
  timer: 'export const x = setTimeout(() => 1, 1);',
  console: "console.log('x');\nexport {};",
  crypto: 'export const x = crypto.randomUUID();',
  performance: 'export const x = performance.now();',
  fetch: "export const x = fetch('http://localhost');",
  promise: 'export const x = Promise.resolve(1);',
};

describe('the kernel does not compile', () => {
  let folder = '';
  let errors: string[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pawl-purity-'));
    mkdirSync(join(folder, 'src'));
    cpSync(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
    cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    for (const layer of ['kernel', 'contracts'])
      cpSync(join(ROOT, 'src', layer), join(folder, 'src', layer), { recursive: true });
    for (const [name, code] of Object.entries(FORBIDDEN))
      writeFileSync(join(folder, 'src/kernel', `probe-${name}.ts`), code);
    writeFileSync(
      join(folder, 'src/kernel', 'probe-allowed.ts'),
      'export const x = Math.max(1, 2) + JSON.stringify([1]).length;',
    );
    try {
      execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'src/kernel', '--pretty', 'false'], {
        cwd: folder,
        encoding: 'utf8',
      });
    } catch (failure) {
      errors = (failure as { stdout: string }).stdout.split('\n').filter((line) => line.includes('error TS'));
    }
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test.each(Object.keys(FORBIDDEN))('when it touches %s', (name) => {
    expect(errors.filter((line) => line.startsWith(`src/kernel/probe-${name}.ts`))).not.toEqual([]);
  });

  test('and otherwise it does', () => {
    const others = errors.filter(
      (line) => line.startsWith('src/kernel/') && !line.startsWith('src/kernel/probe-'),
    );
    expect(others).toEqual([]);
    expect(errors.filter((line) => line.includes('probe-allowed'))).toEqual([]);
  });
});
