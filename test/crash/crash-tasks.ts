import { existsSync } from 'node:fs';
import { effect, happened, notHappened, task, type Effect, type Task } from '../../src/index.js';
import { bearWitness, sightings } from './witness.js';

/** `witness`: the file that bodies write to. */
export type Witnessed = { readonly witness: string };
type Purchase = Witnessed & { readonly id: string };

type Pass = (point: string) => void;

export const ORDER_RESULT = {
  cents: 4_200,
  paid: 'charged',
  mailed: 'mailed',
  signals: ['one', 'two', 'three'],
  shipped: 'shipped',
} as const;

/** An effect that is seen outside, with a point before and after that. */
function seen(
  name: string,
  done: string,
  { pass, canTell }: { pass: Pass; canTell: boolean },
): Effect<Purchase, string> {
  return effect({
    name: `shop.${name}`,
    settle: 0,
    run({ witness }: Purchase, { idempotencyKey }) {
      pass(`${name} entered`);
      bearWitness(witness, name, idempotencyKey);
      pass(`${name} happened`);
      return done;
    },
    ...(canTell && {
      reconcile({ witness }: Purchase, { idempotencyKey }) {
        pass(`${name} asked after`);
        const found = sightings(witness).some(({ what, key }) => what === name && key === idempotencyKey);
        bearWitness(witness, `${name}: ${found ? 'happened' : 'notHappened'}`, idempotencyKey);
        return found ? happened(done) : notHappened();
      },
    }),
  });
}

/** Every kind of step once, and a child. */
export function orderTasks(pass: Pass): { order: Task<Witnessed, unknown>; ship: Task<Purchase, string> } {
  const charge = seen('charge', ORDER_RESULT.paid, { pass, canTell: true });
  const mail = seen('mail', ORDER_RESULT.mailed, { pass, canTell: false });
  const parcel = seen('parcel', ORDER_RESULT.shipped, { pass, canTell: true });

  const ship = task<Purchase, string>({ name: 'ship' }, async ({ input, step }) =>
    step.effect('parcel', parcel, input),
  );
  const order = task<Witnessed>({ name: 'order' }, async ({ input: { witness }, step }) => {
    const cents = await step.run('quote', () => {
      pass('quote begun');
      bearWitness(witness, 'quote');
      pass('quote done');
      return ORDER_RESULT.cents;
    });
    // Another id in a replay would be another effect.
    const id = await step.uuid();
    const paid = await step.effect('charge', charge, { witness, id });
    const mailed = await step.effect('mail', mail, { witness, id });
    const early = [await step.waitFor<string>('early'), await step.waitFor<string>('early-too')];
    await step.sleep('cool-off', 60);
    const signals = [...early, await step.waitFor<string>('late')];
    const shipped = await step.call('ship', ship, { witness, id });
    return { cents, paid, mailed, signals, shipped };
  });
  return { order, ship };
}

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
    bearWitness(witness, 'entered', idempotencyKey);
    await fileAppears(release);
    bearWitness(witness, 'happened', idempotencyKey);
    return process.pid;
  },
  reconcile({ witness }: Held, { idempotencyKey }) {
    bearWitness(witness, 'asked after', idempotencyKey);
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
