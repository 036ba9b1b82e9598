import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Matrix } from '../../src/matrix/outcome.js';

export type Printed = {
  readonly passed: boolean;
  readonly failed: number;
  readonly unproven: number;
  readonly matrices: readonly Matrix[];
};

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs `pawl matrix` as a process; `sources`: where its compiled code lies. */
export function matrixCommand(sources: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(sources, 'cli/main.js'), 'matrix', ...args]);
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.once('close', (code) => resolve({ code, out, err }));
  });
}

/** The same with `--json`, and what it printed. */
export async function matrixJson(
  sources: string,
  args: readonly string[],
): Promise<Printed & { code: number | null }> {
  const { code, out, err } = await matrixCommand(sources, [...args, '--json']);
  if (out === '') throw new Error(err);
  return { ...(JSON.parse(out) as Printed), code };
}

/** A file that does not exist yet, in a folder of its own. */
export function scratchStore(): { readonly url: string; readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-matrix-test-'));
  return {
    folder,
    url: `sqlite:${join(folder, 'pawl.db')}`,
    remove: () => rmSync(folder, { recursive: true }),
  };
}
