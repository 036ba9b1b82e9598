/**
 * An order that a person approves and that is charged at most once: `node .build/examples/order-with-approval.js`.
 *
 * The payment service takes the money, and its answer gets lost: nobody knows whether the customer has paid. The charge
 * is not simply tried again. `reconcile` asks the service, which has it in its books, and the job goes on from there.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  effect,
  happened,
  notHappened,
  pawl,
  task,
  type Duration,
  type HandlerContext,
} from '../src/index.js';

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'pawl-order-'));

type Charge = { key: string; orderId: string; cents: number };

/** Somebody else's payment service. Its books are a file, with a line for each charge. */
const payments = {
  books: join(folder, 'payments.jsonl'),

  async charge(made: Charge): Promise<Charge> {
    appendFileSync(payments.books, `${JSON.stringify(made)}\n`);
    throw new Error('socket hang up'); // The money has moved, and nobody hears of it: the worst moment.
  },

  async find(key: string): Promise<Charge | undefined> {
    const lines = existsSync(payments.books) ? readFileSync(payments.books, 'utf8').trim().split('\n') : [];
    return lines.map((line) => JSON.parse(line) as Charge).find((made) => made.key === key);
  },
};

const charge = effect({
  name: 'payments.charge',
  run: (order: { orderId: string; cents: number }, { idempotencyKey }) =>
    payments.charge({ key: idempotencyKey, ...order }),
  // Asked only when the outcome is unknown, and once nothing of the request can be under way any more.
  reconcile: async (_order, { idempotencyKey }) => {
    const found = await payments.find(idempotencyKey);
    console.log(`  The answer was lost. Does the service have the charge? ${found ? 'Yes' : 'No'}.`);
    return found ? happened(found) : notHappened();
  },
  settle: '200ms',
});

type Order = { id: string; cents: number; approveWithin: Duration };

const order = task({ name: 'order' }, async ({ input, step }: HandlerContext<Order>) => {
  const approval = await step.waitFor<{ by: string }>('approval', {
    kind: 'approval',
    reason: `${input.cents / 100} € for order ${input.id}`,
    timeout: input.approveWithin,
  });
  if (approval === undefined) return { status: 'expired' as const };

  const paid = await step.effect('charge', charge, { orderId: input.id, cents: input.cents });
  return { status: 'paid' as const, approvedBy: approval.by, cents: paid.cents };
});

const app = await pawl({ store: `sqlite:${join(folder, 'pawl.db')}`, tasks: [order] });
await app.work();

console.log('Order 1001 is sent twice with one key, as a browser does when someone clicks again.');
const input: Order = { id: '1001', cents: 4_200, approveWithin: '7d' };
const once = await app.start(order, input, { idempotencyKey: 'order-1001', scope: 'shop' });
const twice = await app.start(order, input, { idempotencyKey: 'order-1001', scope: 'shop' });
console.log(`  One job: ${once.job.id === twice.job.id}. A repetition: ${twice.idempotentHit}.`);

while ((await once.job.why()).code !== 'signal') await new Promise((resolve) => setTimeout(resolve, 10));
console.log(`  ${(await once.job.why()).sentence}`);

console.log('Ada approves it.');
await once.job.signal('approval', { by: 'Ada' });
const paid = await once.job.result({ timeout: '30s' });
console.log(`  ${JSON.stringify(paid)}`);
console.log(
  `  Charges in the service's books: ${readFileSync(payments.books, 'utf8').trim().split('\n').length}`,
);

console.log('Order 1002 is approved by nobody within 300 ms.');
const late = await app.start(order, { id: '1002', cents: 9_900, approveWithin: '300ms' });
console.log(`  ${JSON.stringify(await late.job.result({ timeout: '30s' }))}`);

await app.close();
console.log(`Everything is in ${folder}.`);
