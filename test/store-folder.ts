import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** Containers often have 64 MB of it, which one server fills. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/**
 * A new folder for the files of stores. Tests have it in memory, where that has room: they kill processes, never the machine, and
 * need not wait for a disk. What is run by itself does wait: benchmarks, chaos, `npm run matrix`.
 */
export function storeFolder(prefix: string): string {
  const isTest = process.env['VITEST'] !== undefined;
  return mkdtempSync(join(isTest && hasRoom() ? MEMORY : tmpdir(), prefix));
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ENOUGH_BYTES;
  } catch {
    return false;
  }
}
