import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause } from '../harness/pause.js';

export type ServerProcess = { readonly stop: () => Promise<void> };

type Program = {
  readonly command: string;
  /** What it is started with, told a folder of its own. */
  readonly args: (folder: string) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Throws until it answers. */
  readonly isUp: () => Promise<unknown>;
};

const TRIES = 300;

/** A server that a peer needs, with a folder of its own, until it answers. */
export async function startServer({ command, args, env = {}, isUp }: Program): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-server-'));
  const running = spawn(command, args(folder), {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  let failed: Error | null = null;
  running.once('error', (error) => {
    failed = error;
  });
  const ended = new Promise<void>((resolve) => running.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    running.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 1; ; tries++) {
    try {
      await isUp();
      return { stop };
    } catch (error) {
      const gone = failed ?? (running.exitCode === null ? null : new Error(`ended with ${running.exitCode}`));
      if (gone === null && tries < TRIES) {
        await pause(100);
        continue;
      }
      if (gone === null) await stop();
      throw new Error(`${command} did not start: ${String(gone ?? error)}`, { cause: error });
    }
  }
}
