import { effect, happened, notHappened, type Effect } from '../client/effect.js';
import { task, type Task } from '../client/task.js';
import type { Points } from './points.js';
import { bearWitness, sightings } from './witness.js';

/** `witness`: the file that bodies write to. */
export type Witnessed = { readonly witness: string };
type Purchase = Witnessed & { readonly id: string };

export const ORDER_RESULT = {
  cents: 4_200,
  paid: 'charged',
  mailed: 'mailed',
  signals: ['one', 'two', 'three'],
  shipped: 'shipped',
} as const;

/** Leases are short here, and a busy machine loses some: that must not pass for a job that takes its workers down. */
export const MOST_RECOVERIES = 100;

/** One run of a handler: under which claim, and where it may be cut off. */
type Run = { readonly points: Points; readonly attemptId: string };

/** An effect that is seen outside, with a point before and after that. */
function seen(
  name: string,
  done: string,
  { points, attemptId, canTell }: Run & { canTell: boolean },
): Effect<Purchase, string> {
  return effect({
    name: `shop.${name}`,
    settle: 0,
    async run({ witness }: Purchase, { idempotencyKey }) {
      points.pass(`${name} entered`);
      bearWitness(witness, name, { key: idempotencyKey, attemptId });
      points.pass(`${name} happened`);
      await points.hold(name);
      return done;
    },
    ...(canTell && {
      reconcile({ witness }: Purchase, { idempotencyKey }) {
        points.pass(`${name} asked after`);
        const found = sightings(witness).some(({ what, key }) => what === name && key === idempotencyKey);
        bearWitness(witness, `${name}: ${found ? 'happened' : 'notHappened'}`, { key: idempotencyKey });
        return found ? happened(done) : notHappened();
      },
    }),
  });
}

/** Every kind of step once, and a child. `charge` and `parcel` can be asked after; for `mail` an operator is needed. */
export function orderTasks(points: Points): {
  order: Task<Witnessed, unknown>;
  ship: Task<Purchase, string>;
} {
  const ship = task<Purchase, string>(
    { name: 'ship', maxRecoveries: MOST_RECOVERIES },
    async ({ input, step, job }) => {
      const run = { points, attemptId: points.attemptOf(job.id) };
      return step.effect('parcel', seen('parcel', ORDER_RESULT.shipped, { ...run, canTell: true }), input);
    },
  );
  const order = task<Witnessed>(
    { name: 'order', maxRecoveries: MOST_RECOVERIES },
    async ({ input: { witness }, step, job }) => {
      const run = { points, attemptId: points.attemptOf(job.id) };
      const charge = seen('charge', ORDER_RESULT.paid, { ...run, canTell: true });
      const mail = seen('mail', ORDER_RESULT.mailed, { ...run, canTell: false });
      const cents = await step.run('quote', async () => {
        points.pass('quote begun');
        bearWitness(witness, 'quote', run);
        points.pass('quote done');
        await points.hold('quote');
        return ORDER_RESULT.cents;
      });
      // Another id in a replay would be another effect.
      const id = await step.uuid();
      bearWitness(witness, 'id', { key: id, attemptId: run.attemptId });
      const paid = await step.effect('charge', charge, { witness, id });
      const mailed = await step.effect('mail', mail, { witness, id });
      const early = [await step.waitFor<string>('early'), await step.waitFor<string>('early-too')];
      await step.sleep('cool-off', 60);
      const signals = [...early, await step.waitFor<string>('late')];
      const shipped = await step.call('ship', ship, { witness, id });
      return { cents, paid, mailed, signals, shipped };
    },
  );
  return { order, ship };
}
