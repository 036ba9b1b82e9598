import { expect, test } from 'vitest';
import { effect, pawl, task, type HandlerContext, type StandardSchema } from '../index.js';

type Order = { id: string; cents: number };

/** Accepts anything; its types are what is looked at here. */
const schemaOf = <I, O>(): StandardSchema<I, O> => ({
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as O }) },
});

test('a task without a schema takes the type of its input from its handler', async () => {
  const order = task({ name: 'order' }, ({ input }: HandlerContext<Order>) => ({ cents: input.cents }));
  const app = await pawl({ store: 'memory:', log: SILENT, tasks: [order] });
  const { job } = await app.start(order, { id: 'a', cents: 1 });
  // @ts-expect-error a member is missing: it may not widen the type of the task
  await app.start(order, { id: 'b' });
  await app.work();
  const result: { cents: number } = await job.result({ timeout: '10s' });
  expect(result).toEqual({ cents: 1 });
  await app.close();
});

test('a schema gives both sides: what is passed in, and what the handler gets', () => {
  const parse = task({ name: 'parse', input: schemaOf<{ at: string }, { at: Date }>() }, ({ input }) =>
    input.at.getTime(),
  );
  const started: { input: { at: string }; output: number } | undefined = parse['~types'];
  expect(started).toBeUndefined();
});

test('effects and calls check their input against what they were defined with', () => {
  const charge = effect({ name: 'charge', run: (order: Order) => order.cents });
  const child = task({ name: 'child' }, ({ input }: HandlerContext<Order>) => input.cents);
  const parent = task({ name: 'parent' }, async ({ step }) => {
    // @ts-expect-error a member is missing
    await step.effect('charge', charge, { id: 'a' });
    // @ts-expect-error a member is missing
    return step.call('child', child, { id: 'a' });
  });
  expect(parent.name).toBe('parent');
});

const quiet = (): void => undefined;
const SILENT = { debug: quiet, info: quiet, warn: quiet, error: quiet };
