import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { WorkerProcess as AnyProcess } from '../../src/matrix/worker-process.js';
import { ROOT } from '../source-files.js';
import type { Order } from './killable-worker.js';

export { eventually } from '../../src/matrix/eventually.js';

let program = '';

/** Compiles what these processes run, for one file of tests: others may do the same at the same time. */
export function compileWorker(name: string): void {
  const outDir = join(ROOT, '.build', `crash-${name}`);
  const project = join(ROOT, 'test/crash/tsconfig.run.json');
  execFileSync('npx', ['tsc', '-p', project, '--outDir', outDir], { cwd: ROOT, stdio: 'ignore' });
  program = join(outDir, 'test/crash/killable-worker.js');
}

/** A worker in a process of its own. */
export class WorkerProcess extends AnyProcess<Order> {
  constructor() {
    super([process.execPath, program]);
  }
}
