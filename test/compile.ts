import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './source-files.js';

export const compiledTo = (name: string): string => join(ROOT, '.build/tests', name);

/**
 * Compiles what a test runs as processes into a folder of its own, and answers with where that is: other tests compile
 * meanwhile, and nobody must load a file that is being written. `project`: what is compiled, if not all that `npm run compile` does.
 */
export function compile(name: string, project = 'tsconfig.run.json'): string {
  const folder = compiledTo(name);
  const args = ['-p', project, '--outDir', folder, '--sourceMap', 'false'];
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: ROOT, stdio: 'inherit' });
  return folder;
}
