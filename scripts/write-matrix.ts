/** The failure matrix of every store, and docs/failure-matrix.md: `npm run matrix`, with the options of `pawl matrix`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../test/postgres-server.js';
import { postgresSwitch } from '../test/postgres-switch.js';

const main = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pawl-matrix-'));
const server = await startPostgres();
const power = await postgresSwitch(server);
const args = [
  '--store',
  `sqlite:${join(folder, 'matrix.db')}`,
  '--also',
  server.url,
  'memory:',
  ...(power === null ? [] : ['--stop-command', power.stopCommand, '--start-command', power.startCommand]),
  '--report',
  'docs/failure-matrix.md',
  ...process.argv.slice(2),
];
try {
  const child = spawn(process.execPath, [main, 'matrix', ...args], { stdio: 'inherit' });
  process.exitCode = await new Promise<number>((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1));
  });
} finally {
  await power?.close();
  await server.stop();
  rmSync(folder, { recursive: true });
}
