import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bug } from './bug.js';

/**
 * Makes a copy of compiled sources with one bug in it, and says where it is. Production code has no switches: what runs
 * with a bug is another program.
 */
export function plant(compiled: string, bug: Bug): string {
  const { name, file, from, to } = bug;
  const [stale] = staleBugs(compiled, [bug]);
  if (stale !== undefined) throw new Error(stale);
  const copy = join(dirname(compiled), 'bugs', name.replaceAll(/[^a-z0-9]+/gi, '-'));
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  cpSync(compiled, join(copy, 'src'), { recursive: true });
  const path = join(copy, 'src', `${file}.js`);
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  return join(copy, 'src');
}

/** Bugs whose text is no longer what the compiled sources say, in which nothing would be planted. */
export function staleBugs(compiled: string, bugs: readonly Bug[]): string[] {
  return bugs.flatMap(({ name, file, from }) => {
    const found = readFileSync(join(compiled, `${file}.js`), 'utf8').split(from).length - 1;
    return found === 1
      ? []
      : [`bug '${name}': its text stands ${found} times in ${file}.js, not once: ${from}`];
  });
}

export function uproot(planted: string): void {
  rmSync(dirname(planted), { recursive: true, force: true });
}
