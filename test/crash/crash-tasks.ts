import { existsSync } from 'node:fs';
import { effect, happened, notHappened, task } from '../../src/index.js';
import type { Witnessed } from '../../src/matrix/order-task.js';
import { bearWitness, sightings } from '../../src/matrix/witness.js';

export type Held = Witnessed & {
  /** The body ends once this file is there. */
  readonly release: string;
};

/** A body that lasts until it is let go: by a loop that stands still, or by one that runs. */
export const stalled = task<Held>({ name: 'stalled' }, async ({ input, step, signal }) => {
  signal.addEventListener('abort', () => bearWitness(input.witness, 'aborted'));
  return step.run('hold', () => {
    bearWitness(input.witness, 'held');
    const cell = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(input.release)) Atomics.wait(cell, 0, 0, 2);
    return process.pid;
  });
});

export const patient = task<Held>({ name: 'patient' }, async ({ input, step, signal }) => {
  signal.addEventListener('abort', () => bearWitness(input.witness, 'aborted'));
  return step.run('hold', async () => {
    bearWitness(input.witness, 'held');
    await fileAppears(input.release);
    return process.pid;
  });
});

const slowly = effect({
  name: 'shop.slowly',
  settle: 0,
  async run({ witness, release }: Held, { idempotencyKey }) {
    bearWitness(witness, 'entered', { key: idempotencyKey });
    await fileAppears(release);
    bearWitness(witness, 'happened', { key: idempotencyKey });
    return process.pid;
  },
  reconcile({ witness }: Held, { idempotencyKey }) {
    bearWitness(witness, 'asked after', { key: idempotencyKey });
    const found = sightings(witness).some(({ what }) => what === 'happened');
    return found ? happened(0) : notHappened();
  },
});

export const sending = task<Held>({ name: 'sending' }, async ({ input, step }) =>
  step.effect('send', slowly, input),
);

/** Takes its whole process with it. */
export const poison = task<Witnessed>({ name: 'poison' }, ({ input }) => {
  bearWitness(input.witness, 'swallowed');
  process.abort();
});

/** Needs some turns of the event loop for its one step. */
export const neighbour = task<Witnessed>({ name: 'neighbour' }, async ({ step }) =>
  step.run('work', async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return 'unharmed';
  }),
);

async function fileAppears(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 5));
}
