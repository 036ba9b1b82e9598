import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Found } from '../../bench/harness/rounds.js';
import { ROOT } from '../source-files.js';

const main = join(ROOT, '.build/bench/main.js');
const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-test-'));

beforeAll(() => {
  execFileSync('npm', ['run', '--silent', 'compile'], { cwd: ROOT, stdio: 'inherit' });
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true }));

test('npm run bench measures every workload from end to end, and writes what it found', async () => {
  const json = join(folder, 'found.json');
  const svg = join(folder, 'found.svg');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [main, '--scale', 'tiny', '--rounds', '1', '--store', 'sqlite', '--json', json, '--svg', svg],
    { timeout: 110_000 },
  );
  const { found } = JSON.parse(readFileSync(json, 'utf8')) as { found: Found[] };
  const ours = found.filter(({ subject }) => subject === 'pawl sqlite');
  expect(ours).toHaveLength(12);
  for (const { workload, figures, reason } of found) {
    expect([workload, reason]).toEqual([workload, null]);
    for (const value of figures.flatMap((one) => Object.values(one))) expect(value).toBeGreaterThan(0);
  }
  expect(stdout).toMatch(/pawl sqlite +[\d,]+ starts\/s/);
  expect(readFileSync(svg, 'utf8')).toMatch(/^<svg /);
}, 120_000);
