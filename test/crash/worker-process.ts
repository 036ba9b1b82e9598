import { join } from 'node:path';
import { WorkerProcess as AnyProcess } from '../../src/matrix/worker-process.js';
import { compile } from '../compile.js';
import type { Order } from './killable-worker.js';

export { eventually } from '../../src/matrix/eventually.js';

let program = '';

/** Compiles what these processes run, for one file of tests. */
export function compileWorker(name: string): void {
  const folder = compile(`crash-${name}`, 'test/crash/tsconfig.run.json');
  program = join(folder, 'test/crash/killable-worker.js');
}

/** A worker in a process of its own. */
export class WorkerProcess extends AnyProcess<Order> {
  constructor() {
    super([process.execPath, program]);
  }
}
