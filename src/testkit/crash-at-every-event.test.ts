import { describe, expect, test } from 'vitest';
import { effect, happened, notHappened } from '../client/effect.js';
import { task } from '../client/task.js';
import { crashAtEveryEvent } from './index.js';

describe('a task that is killed at every event', () => {
  test('GUA-5 ten steps, effects and waits among them: the same result, and each effect once', async () => {
    const charges = new Map<string, number>();
    const charge = effect({
      name: 'charge',
      run: (cents: number, { idempotencyKey }) => {
        charges.set(idempotencyKey, (charges.get(idempotencyKey) ?? 0) + 1);
        return `ch_${cents}`;
      },
      reconcile: (cents, { idempotencyKey }) =>
        charges.has(idempotencyKey) ? happened(`ch_${cents}`) : notHappened(),
    });
    const child = task({ name: 'child' }, ({ input }) => `sent ${String(input)}`);
    const order = task({ name: 'order' }, async ({ step }) => {
      const cents = await step.run('quote', () => 700);
      const paid = await step.effect('charge', charge, cents);
      await step.sleep('cool-off', '1h');
      const approved = await step.waitFor<boolean>('approval');
      const sent = await Promise.all([step.call('ship', child, 'a'), step.call('ship', child, 'b')]);
      const fee = await step.effect('charge', charge, 30);
      const [two, three] = await Promise.all([step.run('two', () => 2), step.run('three', () => 3)]);
      await step.run('last', () => null);
      return { paid, approved, sent, fee, sum: two + three };
    });
    const { result, runs } = await crashAtEveryEvent(order, null, {
      tasks: [child],
      signals: { approval: true },
      before: () => charges.clear(),
      check: ({ crash }) => expect([...charges.values()], JSON.stringify(crash)).toEqual([1, 1]),
    });
    expect(result).toEqual({
      paid: 'ch_700',
      approved: true,
      sent: ['sent a', 'sent b'],
      fee: 'ch_30',
      sum: 5,
    });
    expect(runs.length).toBeGreaterThan(30);
    expect(runs.map(({ ended }) => ended)).toEqual(runs.map(() => 'succeeded'));
  });
});
