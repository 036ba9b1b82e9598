import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { kept } from './kept.js';
import { ROOT } from './source-files.js';

/** The repository's programs, each module a file, as `npm run compile` makes them; answers with the folder where they are. */
export function compiled(): Promise<string> {
  return kept('compiled', (folder) => {
    const args = ['-p', 'tsconfig.run.json', '--outDir', folder, '--sourceMap', 'false'];
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: ROOT, stdio: 'inherit' });
  });
}
