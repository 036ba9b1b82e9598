import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bug } from './bug.js';

/**
 * Makes a copy of compiled sources with one bug in it, and says where it is. Production code has no switches: what runs
 * with a bug is another program.
 */
export function plant(compiled: string, { name, file, from, to }: Bug): string {
  const copy = join(dirname(compiled), 'bugs', name.replaceAll(/[^a-z0-9]+/gi, '-'));
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  cpSync(compiled, join(copy, 'src'), { recursive: true });
  const path = join(copy, 'src', `${file}.js`);
  const text = readFileSync(path, 'utf8');
  const found = text.split(from).length - 1;
  if (found !== 1)
    throw new Error(`bug '${name}': its text stands ${found} times in ${file}.js, not once: ${from}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  return join(copy, 'src');
}

export function uproot(planted: string): void {
  rmSync(dirname(planted), { recursive: true, force: true });
}
