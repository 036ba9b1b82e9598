import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fillOnce } from './fill-once.js';
import { filesUnder, ROOT } from './source-files.js';

export const compiledTo = (name: string): string => join(ROOT, '.build/tests', name);

const KEPT = join(ROOT, '.build/kept');
/** Everything that is compiled, and what says how. */
const SOURCES = ['src', 'test', 'bench', 'examples', 'scripts'];
const SETTINGS = ['tsconfig.json', 'tsconfig.run.json', 'package-lock.json'];

/**
 * Compiles what a test runs as processes into a folder of its own, and answers with where that is: other tests compile
 * meanwhile, and nobody must load a file that is being written. `project`: what is compiled, if not all that `npm run compile` does.
 * What another test has compiled of these very sources is copied: twenty files of tests compile eight projects.
 */
export function compile(name: string, project = 'tsconfig.run.json'): string {
  const folder = compiledTo(name);
  mkdirSync(folder, { recursive: true });
  mkdirSync(KEPT, { recursive: true });
  const state = stateOfSources();
  fillOnce(folder, join(KEPT, `${state} ${project.replaceAll('/', ' ')}`), () => {
    for (const old of readdirSync(KEPT)) {
      if (!old.startsWith(state)) rmSync(join(KEPT, old), { recursive: true, force: true });
    }
    const args = ['-p', project, '--outDir', folder, '--sourceMap', 'false'];
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: ROOT, stdio: 'inherit' });
  });
  return folder;
}

/** Another one after any change. */
function stateOfSources(): string {
  const hash = createHash('sha256');
  for (const file of [...SOURCES.flatMap(filesUnder), ...SETTINGS]) {
    const found = statSync(join(ROOT, file), { throwIfNoEntry: false });
    hash.update(`${file} ${found?.mtimeMs} ${found?.size}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}
