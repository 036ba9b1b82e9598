import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { systemClock } from '../client/system-clock.js';
import { foldersUnder, nullIfGone } from './config/find-files.js';

/** What a process of tasks may be made of. A database beside them changes all the time. */
const CODE = new Set(['.ts', '.mts', '.js', '.mjs', '.cjs', '.json']);
/** An editor writes a file in several goes, and a checkout many files. */
const SETTLE_MS = 100;
/** More folders than this are not one application's tasks: somebody has started in the wrong place. */
const MOST_FOLDERS = 2_000;

/**
 * Tells when code changes in or below the folders of some files. Folders of packages, and hidden ones, are left out. A
 * folder that appears later is looked at from then on.
 */
export function watchFiles(files: readonly string[], changed: (file: string) => void): { close(): void } {
  const watchers = new Map<string, FSWatcher>();
  let cancel: (() => void) | null = null;
  const hear = (folder: string, name: string | null): void => {
    if (name === null || name.startsWith('.')) return;
    // A folder that is removed tells its own name, and a new one in its place is another.
    const isItself = name === basename(folder);
    if (isItself) forget(folder);
    if (isItself || extname(name) === '') add(folder);
    if (!CODE.has(extname(name))) return;
    cancel?.();
    cancel = systemClock.after(SETTLE_MS, () => changed(join(folder, name)));
  };
  const forget = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const add = (root: string): void => {
    for (const folder of foldersUnder(root)) {
      if (watchers.has(folder) || watchers.size >= MOST_FOLDERS) continue;
      const watcher = watching(folder, (name) => hear(folder, name));
      // A folder that is gone has nothing more to say.
      watcher?.on('error', () => forget(folder));
      if (watcher !== null) watchers.set(folder, watcher);
    }
  };
  for (const folder of new Set(files.map((file) => dirname(file)))) add(folder);
  return {
    close() {
      cancel?.();
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

/** Null: the folder is gone, or not for us. */
function watching(folder: string, hear: (name: string | null) => void): FSWatcher | null {
  try {
    return watch(folder, (_event, name) => hear(name));
  } catch (error) {
    return nullIfGone(error);
  }
}
