import { task } from '../../../src/index.js';
import type { Witnessed } from '../../../src/matrix/order-task.js';
import { bearWitness } from '../../../src/matrix/witness.js';

/** How many crashes a poison may cause besides the first: enough for it to be suspected on the way. */
const options = { maxRecoveries: 2 };

/** Never gives the event loop back. It waits instead of burning a core that others need. */
export const endlessLoop = task<Witnessed>({ name: 'endless-loop', ...options }, ({ input }) => {
  bearWitness(input.witness, 'swallowed');
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (;;) Atomics.wait(cell, 0, 0, 1_000);
});

/** Holds on to more than the process may have. */
export const heapBomb = task<Witnessed>({ name: 'heap-bomb', ...options }, ({ input }) => {
  bearWitness(input.witness, 'swallowed');
  const hoard: number[][] = [];
  for (;;) hoard.push(Array.from({ length: 1_000_000 }, Math.random));
});

/** Needs some turns of the event loop for its one step. */
export const neighbour = task<Witnessed>({ name: 'neighbour' }, async ({ step }) =>
  step.run('work', async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return 'unharmed';
  }),
);
