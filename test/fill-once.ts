import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';

/** Fills a folder with what is kept. The first time it is made instead, and kept for the others, whole or not at all. */
export function fillOnce(folder: string, kept: string, make: () => void): void {
  const copy = (from: string, to: string) => execFileSync('cp', ['-a', `${from}/.`, to], { stdio: 'ignore' });
  if (existsSync(kept)) {
    copy(kept, folder);
    return;
  }
  make();
  const copied = `${kept} ${process.pid}`;
  try {
    mkdirSync(copied);
    copy(folder, copied);
    renameSync(copied, kept);
  } catch {
    // Another process was quicker, or nothing can be kept here: the folder is filled either way.
    rmSync(copied, { recursive: true, force: true });
  }
}
