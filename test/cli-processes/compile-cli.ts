import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../source-files.js';

/** Compiles the CLI into a folder of its own, and answers with where that is. */
export function compileCli(name: string): URL {
  const folder = join(ROOT, '.build', `cli-${name}`);
  const project = join(ROOT, 'test/cli-processes/tsconfig.run.json');
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project, '--outDir', folder], {
    stdio: 'inherit',
  });
  return pathToFileURL(`${folder}/`);
}
