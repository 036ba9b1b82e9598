import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from './source-files.js';

/** Code that must not pass the linter, and the rule that says so. */
const BANNED: Readonly<Record<string, readonly [rule: string, code: string]>> = {
  'wall-clock': ['no-restricted-globals', 'export const x = Date.now();'],
  timer: ['no-restricted-globals', 'export const x = setTimeout(() => 1, 1);'],
  performance: ['no-restricted-globals', 'export const x = performance.now();'],
  'abort-timeout': ['no-restricted-properties', 'export const x = AbortSignal.timeout(1);'],
  'math-random': ['no-restricted-properties', 'export const x = Math.random();'],
  'random-uuid': ['no-restricted-properties', 'export const x = crypto.randomUUID();'],
  'crypto-subtle': ['no-restricted-properties', 'export const x = crypto.subtle;'],
  'imported-uuid': [
    'no-restricted-imports',
    "import { randomUUID } from 'node:crypto';\nexport const x = randomUUID();",
  ],
  'imported-timer': [
    'no-restricted-imports',
    "import { setTimeout as wait } from 'node:timers/promises';\nexport const x = wait;",
  ],
  floating: [
    'no-floating-promises',
    'async function f(): Promise<void> {}\nexport function g(): void {\n  f();\n}',
  ],
  'cycle-a': ['no-cycle', "import { b } from './cycle-b.js';\nexport const a = (): unknown => b;"],
  'cycle-b': ['no-cycle', "import { a } from './cycle-a.js';\nexport const b = (): unknown => a;"],
};

describe('the linter refuses, in every layer of src', () => {
  let folder = '';
  let report: { code: string; filename: string }[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pawl-lint-'));
    mkdirSync(join(folder, 'src/engine'), { recursive: true });
    for (const file of ['.oxlintrc.json', 'package.json']) cpSync(join(ROOT, file), join(folder, file));
    const options = { strict: true, module: 'nodenext', target: 'es2023', noEmit: true, types: [] };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, include: ['src'] }),
    );
    for (const [name, [, code]] of Object.entries(BANNED))
      writeFileSync(join(folder, 'src/engine', `${name}.ts`), `${code}\n`);
    const run = spawnSync(join(ROOT, 'node_modules/.bin/oxlint'), ['--type-aware', '--format', 'json'], {
      cwd: folder,
      encoding: 'utf8',
    });
    report = (JSON.parse(run.stdout) as { diagnostics: typeof report }).diagnostics;
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test.each(Object.entries(BANNED))('%s', (name, [rule]) => {
    const codes = report.filter(({ filename }) => filename.endsWith(`/${name}.ts`)).map(({ code }) => code);
    expect(
      codes.some((code) => code.includes(rule)),
      codes.join(),
    ).toBe(true);
  });
});
