import { effect, happened, notHappened, task, type HandlerContext } from '../../src/index.js';
import { payments, quoteFor } from './shop.js';

const charge = effect({
  name: 'payments.charge',
  run: (input: { orderId: string; cents: number }, { idempotencyKey }) =>
    payments.charge(input, idempotencyKey),
  // Asked only when nobody knows whether it happened, such as after a crash in the middle.
  reconcile: async (_input, { idempotencyKey }) => {
    const found = await payments.find(idempotencyKey);
    return found ? happened(found) : notHappened();
  },
});

export const order = task(
  { name: 'order', retry: { maxRetries: 3 } },
  async ({ input, step }: HandlerContext<{ id: string }>) => {
    const quote = await step.run('quote', () => quoteFor(input)); // recorded, then never run again
    const paid = await step.effect('charge', charge, { orderId: input.id, cents: quote.cents }); // entered at most once
    const approved = await step.waitFor<boolean>('approval', { timeout: '7d' }); // holds no worker meanwhile
    return { paid: paid.id, approved };
  },
);
