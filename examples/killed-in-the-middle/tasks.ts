/** The task of `npm run demo`: charges a card through a payment service that others watch. */
import { effect, happened, notHappened, task, type HandlerContext } from 'pawl';

type Charge = { readonly id: string; readonly cents: number };

const payments = process.env['PAYMENTS_URL'] ?? '';

const charge = effect({
  name: 'payments.charge',
  run: async (order: { id: string; cents: number }, { idempotencyKey, signal }): Promise<Charge> => {
    const response = await fetch(`${payments}/charges`, {
      method: 'POST',
      headers: { 'idempotency-key': idempotencyKey },
      body: JSON.stringify(order),
      signal,
    });
    return (await response.json()) as Charge;
  },
  // Asked only when nobody knows whether it happened: here, because the worker was killed before it heard the answer.
  reconcile: async (_order, { idempotencyKey }) => {
    const response = await fetch(`${payments}/charges/${idempotencyKey}`);
    return response.ok ? happened((await response.json()) as Charge) : notHappened();
  },
  settle: '500ms',
});

export const order = task(
  { name: 'order' },
  async ({ input, step }: HandlerContext<{ id: string; cents: number }>) => {
    await step.run('reserve', () => `reserved for ${input.id}`);
    const paid = await step.effect('charge', charge, input);
    await step.run('ship', () => `shipped ${input.id}`);
    return { paid: paid.id, cents: paid.cents };
  },
);
