/** A few tasks to play with. Change one while `npm start` runs: the worker begins anew, and no job is lost. */
import { setTimeout as pause } from 'node:timers/promises';
import { effect, fatal, task, type HandlerContext } from 'pawl';

/** An effect is entered at most once. A real one would reach a payment service here. */
const charge = effect({
  name: 'charge',
  run: async ({ cents }: { orderId: string; cents: number }, { idempotencyKey }) => {
    await pause(400);
    return { id: `ch_${idempotencyKey.slice(0, 8)}`, cents };
  },
});

export const order = task({ name: 'order' }, async ({ input, step }: HandlerContext<{ id: string }>) => {
  const cents = await step.run('quote', async () => {
    await pause(300);
    return 100 * input.id.length;
  });
  const paid = await step.effect('charge', charge, { orderId: input.id, cents });
  await step.sleep('cool off', '1s');
  await step.run('ship', () => pause(200));
  return { paid: paid.id, cents };
});

/** Waits for a person: `pawl jobs signal <job> approval '{"by":"Ada"}'`. */
export const approval = task({ name: 'approval' }, async ({ step }) => {
  const answer = await step.waitFor<{ by: string }>('approval', {
    timeout: '7d',
    reason: 'somebody must agree',
  });
  return answer ?? { by: 'nobody' };
});

/** Fails for good, and leaves a dead letter: `pawl dlq list`. */
export const flaky = task({ name: 'flaky', retry: { maxRetries: 1, baseMs: 200 } }, ({ job }) => {
  const error = new Error(`attempt ${job.attempt} went wrong`);
  throw job.attempt > 1 ? fatal(error) : error;
});

export const tidy = task({ name: 'tidy' }, ({ step }) => step.run('tidy', () => 'nothing to tidy'));
