import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { crashTest, STORE_VARIABLE } from '../../src/cli/crash-test.js';
import { run } from '../../src/cli/program.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-crash-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('where a store is, which may have a password in it, is on no command line', async () => {
  const store = `sqlite:${join(folder, 's3cret.db')}`;
  // In the place of a writer: writes down how it was started, and acknowledges nothing until it is killed.
  const writer = `
    const { argv, env } = process;
    const told = JSON.stringify({ argv, store: env[${JSON.stringify(STORE_VARIABLE)}] });
    require('node:fs').writeFileSync(require('node:path').join(${JSON.stringify(folder)}, argv.at(-1) + '.json'), told);
    setInterval(() => console.log('[]'), 1);
  `;
  const { losses } = await crashTest([process.execPath, '-e', writer], { store, rounds: 1 });
  expect(losses).toEqual([]);
  const started = readdirSync(folder).filter((name) => name.endsWith('.json'));
  expect(started).toEqual(['w0a.json', 'w0b.json']);
  for (const name of started) {
    const told = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { argv: string[]; store: string };
    expect(told.argv.slice(1)).toEqual(['crash-writer', name.replace('.json', '')]);
    expect(told.store).toBe(store);
  }
});

test('a writer that nobody told where to write writes nowhere', async () => {
  let err = '';
  const console = { out: () => undefined, err: (text: string) => void (err += text), isTerminal: false };
  const env = { PAWL_STORE: `sqlite:${join(folder, 'own.db')}` };
  expect(await run(['crash-writer', 'w'], console, [process.execPath], { env, cwd: folder })).toBe(2);
  expect(err).toContain(STORE_VARIABLE);
  expect(readdirSync(folder)).not.toContain('own.db');
});
