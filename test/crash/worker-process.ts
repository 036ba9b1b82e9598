import { join } from 'node:path';
import { WorkerProcess as AnyProcess } from '../../src/matrix/worker-process.js';
import { bundled } from '../bundled.js';
import type { Order } from './killable-worker.js';

export { eventually } from '../../src/matrix/eventually.js';

const PROGRAM = join(await bundled(), 'test/crash/killable-worker.js');

/** A worker in a process of its own. */
export class WorkerProcess extends AnyProcess<Order> {
  constructor() {
    super([process.execPath, PROGRAM]);
  }
}
