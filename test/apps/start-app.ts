import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { compile, compiledTo } from '../compile.js';
import { ROOT } from '../source-files.js';

export type RunningApp = {
  readonly url: string;
  kill: () => Promise<void>;
  stop: () => Promise<number | null>;
};

const builtOf = (name: string): string => compiledTo(`app-${name}`);

export const mainOf = (name: string): string => join(builtOf(name), 'examples', name, 'main.js');

/** Compiles an example application, as `npm run compile` does. */
export function compileApp(name: string): void {
  compile(`app-${name}`);
}

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
export function shownByCli(name: string, { store, runId }: { store: string; runId: string }): unknown {
  const args = [join(builtOf(name), 'src/cli/main.js'), 'runs', 'show', runId, '--store', store, '--json'];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

/** A folder that ends with the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-app-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
