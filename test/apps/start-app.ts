import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { bundled } from '../bundled.js';
import { compiled } from '../compiled.js';
import { ROOT } from '../source-files.js';

export type RunningApp = {
  readonly url: string;
  kill: () => Promise<void>;
  stop: () => Promise<number | null>;
};

const EXAMPLES = join(await compiled(), 'examples');
const CLI = join(await bundled(), 'src/cli/main.js');

export const mainOf = (name: string): string => join(EXAMPLES, name, 'main.js');

/** Starts an example application in a process of its own, as its README says, and waits until it listens. */
export async function startApp(name: string, env: Readonly<Record<string, string>>): Promise<RunningApp> {
  const app = spawn(process.execPath, [mainOf(name)], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(app, 'close') as Promise<[number | null]>;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    app.kill(signal);
    return (await ended)[0];
  };
  onTestFinished(() => void end('SIGKILL'));
  let shown = '';
  app.stderr.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    app.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
      const [, found] = /listens on (http:\S+)\n/.exec(shown) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`${name} has ended: ${shown}`)));
  });
  return { url, kill: async () => void (await end('SIGKILL')), stop: () => end('SIGTERM') };
}

/** What `pawl runs show` has of a run. */
export function shownByCli({ store, runId }: { store: string; runId: string }): unknown {
  const args = [CLI, 'runs', 'show', runId, '--store', store, '--json'];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

/** A folder that ends with the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-app-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
