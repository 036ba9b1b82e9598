import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import type { Found } from '../../bench/harness/rounds.js';
import { WORKLOADS } from '../../bench/workloads/workload.js';
import { compiled } from '../compiled.js';
import { LONG } from '../long-mode.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-test-'));
const [json, svg] = [join(folder, 'found.json'), join(folder, 'found.svg')];

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the benchmark as `npm run bench` does. What it found is in the file; what it said is answered. */
async function bench(...given: readonly string[]): Promise<{ said: string; found: Found[] }> {
  const main = join(await compiled(), 'bench/main.js');
  const args = [main, '--scale', 'tiny', '--rounds', '1', '--json', json, '--svg', svg, ...given];
  const { stdout: said } = await promisify(execFile)(process.execPath, args, { timeout: 240_000 });
  const { found } = JSON.parse(readFileSync(json, 'utf8')) as { found: Found[] };
  for (const { workload, figures, reason } of found) {
    expect([workload, reason]).toEqual([workload, null]);
    for (const value of figures.flatMap((one) => Object.values(one))) expect(value).toBeGreaterThan(0);
  }
  return { said, found };
}

/** Those that differ most in how they are measured, unless there is time for all. */
const SAMPLE = ['single-starts', 'five-steps', 'in-flight', 'history', 'schedules'];

test('npm run bench measures every workload, each in a process of its own', async () => {
  const ids = WORKLOADS.filter(({ apart }) => !apart).map(({ id }) => id);
  const expected = LONG ? ids : ids.filter((id) => SAMPLE.includes(id));
  expect(expected.length).toBeGreaterThanOrEqual(SAMPLE.length);
  const { said, found } = await bench('--store', 'memory', '--only', expected.join());
  expect(found.map(({ workload }) => workload)).toEqual(expected);
  expect(said).toMatch(/pawl memory +[\d,]+ starts\/s/);
  expect(readFileSync(svg, 'utf8')).toMatch(/^<svg /);
});

test('beside the raw database, with its commits counted, and across two processes', async () => {
  const { said, found } = await bench('--store', 'sqlite', '--only', 'drain,pick-up');
  expect(found.map(({ subject, workload }) => `${subject}: ${workload}`)).toEqual([
    'pawl sqlite: drain',
    'raw sqlite: drain',
    'pawl sqlite: pick-up',
    'raw sqlite: pick-up',
  ]);
  expect(said).toMatch(/× raw +commits\/job/);
});
