import { expect, test } from 'vitest';
import { effect, happened, notHappened, task } from '../../src/index.js';
import { crashAtEveryEvent } from '../../src/testkit/index.js';

const charges = new Map<string, string>();
const charge = effect({
  name: 'charge',
  run: (cents: number, { idempotencyKey }) => {
    if (charges.has(idempotencyKey)) throw new Error('charged twice');
    charges.set(idempotencyKey, `ch_${cents}`);
    return `ch_${cents}`;
  },
  reconcile: (_cents, { idempotencyKey }) => {
    const found = charges.get(idempotencyKey);
    return found ? happened(found) : notHappened();
  },
});

/** Ten steps, and waits between them. */
const order = task({ name: 'order' }, async ({ step }) => {
  let sum = 0;
  for (let n = 0; n < 8; n++) sum += await step.run('add', () => n);
  const paid = await step.effect('charge', charge, sum);
  await step.sleep('cool-off', '1h');
  const approved = await step.waitFor<boolean>('approval');
  return { paid, approved, id: (await step.uuid()).length };
});

test('an order survives a crash at every event', async () => {
  const { result, runs } = await crashAtEveryEvent(order, null, { signals: { approval: true } });
  expect(result).toEqual({ paid: 'ch_28', approved: true, id: 36 });
  expect(runs.every(({ ended }) => ended === 'succeeded')).toBe(true);
});
