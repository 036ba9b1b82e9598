import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { apply, loadWorkflowText, type Applied, type ApplyOptions } from '../../src/runner/index.js';

/** A folder that ends with the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-runner-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const quiet = (): void => undefined;
export const SILENT = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Applies a workflow that is written in a test. Its first lines are always the same. */
export async function applyText(
  lines: string,
  {
    folder = newFolder(),
    hosts = '{ a: { connection: local }, b: { connection: local } }',
    ...options
  }: ApplyOptions & { folder?: string; hosts?: string } = {},
): Promise<Applied> {
  const text = `version: 1\nname: test\ninventory: { hosts: ${hosts} }\n${lines}`;
  const loaded = await loadWorkflowText(text, { file: 'test.yaml', folder });
  return apply(loaded, { store: 'memory:', runs: 'memory:', log: SILENT, ...options });
}

/** How each host ended in each step. */
export function statuses({ run }: Applied): Record<string, Record<string, string>> {
  return Object.fromEntries(
    (run?.steps ?? []).map(({ name, hosts }) => [
      name,
      Object.fromEntries(Object.entries(hosts).map(([host, { status }]) => [host, status])),
    ]),
  );
}

export function outputOf({ run }: Applied, step: string, host: string): string {
  return run?.steps.find(({ name }) => name === step)?.hosts[host]?.output ?? '';
}
