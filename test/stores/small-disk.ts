import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of its own, small enough to be filled. */
export type SmallDisk = { readonly path: string; makeReadOnly(): void; remove(): void };

/** Null where this user may not mount anything. */
export function smallDisk(megabytes: number): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'pawl-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=777`, 'tmpfs', path], {
      stdio: 'ignore',
    });
  } catch {
    rmSync(path, { recursive: true });
    return null;
  }
  return {
    path,
    makeReadOnly: () => execFileSync('mount', ['-o', 'remount,ro', path]),
    remove() {
      // Lazily: the SQLite driver keeps a closed file open until its statements have been collected.
      execFileSync('umount', ['-l', path]);
      rmSync(path, { recursive: true });
    },
  };
}
