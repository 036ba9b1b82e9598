import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { pawl, type Logger, type Pawl, type Task, type WorkOptions } from '../../src/index.js';
import { fakeClock, type FakeClock } from '../../src/testkit/index.js';

const quiet = (): void => undefined;
export const SILENT: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** A SQLite file of its own for one test. */
export function newStore(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return `sqlite:${join(folder, 'pawl.db')}`;
}

export type Opened = { readonly app: Pawl; readonly clock: FakeClock };

/** Polls and heartbeats follow the fake clock: rare ones leave little to skip through. */
export const RARELY = { poll: '10m', lease: '90d' } as const;

/** An application that works on its jobs, under a clock that stands still until it is moved. */
export async function openApp(
  tasks: readonly Task<unknown, unknown>[],
  {
    store = newStore(),
    clock = fakeClock(Date.UTC(2026, 0, 1)),
    work = {},
  }: { store?: string; clock?: FakeClock; work?: WorkOptions | null } = {},
): Promise<Opened> {
  const app = await pawl({ store, tasks, clock, log: SILENT });
  if (work) await app.work({ ...RARELY, ...work });
  onTestFinished(() => app.close());
  return { app, clock };
}
