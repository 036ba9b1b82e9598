import { statSync, type BigIntStats } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Tells whether the file that was opened is still the one at its path. One that was deleted or replaced goes on being written
 * to, where nobody will ever find it. Always true where there is no file, or the platform does not number them.
 */
export function sameFile(path: string): () => boolean {
  // The process may change its folder.
  const whole = resolve(path);
  const opened = look(whole);
  if (!opened || opened.ino === 0n) return () => true;
  return () => {
    const found = look(whole);
    return found === null || (found?.ino === opened.ino && found.dev === opened.dev);
  };
}

/** Undefined: nothing is there. Null: it cannot be told. */
function look(path: string): BigIntStats | null | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return null;
  }
}
