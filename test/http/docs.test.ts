import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { read } from '../source-files.js';
import { ApiRig } from './api-rig.js';

const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** The commands of the page, each with the answer that follows it, if one does. */
const commands = [...read('docs/http.md').matchAll(/^```sh\n(.*?)^```\n(?:\n```json\n(.*?)^```$)?/gms)].map(
  (match) => ({ command: match[1] ?? '', answer: match[2] ?? null }),
);

/** Names only: values differ from run to run. */
function namesIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? 'text' : value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, namesIn(inner)]));
}

test.skipIf(!hasCurl)('JOB-13 the commands of docs/http.md do what the page says', async () => {
  const rig = await ApiRig.start({ served: true });
  onTestFinished(() => rig.stop());
  const env = { ...process.env, PAWL_URL: rig.url, PAWL_KEY: rig.keys['admin'] ?? '', no_proxy: '*' };
  expect(commands.length).toBeGreaterThan(8);
  for (const { command, answer } of commands) {
    const isStream = command.includes('/stream');
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-c', isStream ? `${command.trim()} || true` : command],
      { env },
    );
    if (isStream) {
      expect(stdout).toContain('event: run.status.changed');
      continue;
    }
    const said = JSON.parse(stdout) as { success: boolean };
    if (answer === null) expect([command, said.success]).toEqual([command, true]);
    else expect(namesIn(said)).toEqual(namesIn(JSON.parse(answer)));
  }
});
