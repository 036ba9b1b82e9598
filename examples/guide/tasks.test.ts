import { expect, test } from 'vitest';
import { z } from 'zod';
import { task, type HandlerContext } from '../../src/index.js';
import { newStore, openApp } from './open-app.js';

const Order = z.object({ id: z.string(), customerId: z.string(), cents: z.int() });

const order = task({ name: 'order', input: Order }, async ({ input, step }) => {
  const fee = await step.run('fee', () => Math.round(input.cents * 0.03));
  return { id: input.id, total: input.cents + fee };
});

type Parcel = { to: string; grams: number };

const pack = task({ name: 'pack' }, async ({ input, step }: HandlerContext<Parcel>) => {
  return step.run('label', () => `${input.grams} g to ${input.to}`);
});

test('an input that does not fit is refused before anything is stored', async () => {
  const { app } = await openApp([order, pack]);
  await expect(app.start(order, { id: 'o-1', customerId: 'c-1', cents: 1.5 })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: { issues: [{ path: 'cents' }] },
  });

  const { job } = await app.start(order, { id: 'o-1', customerId: 'c-1', cents: 1_000 });
  const { total } = await job.result();

  expect(total).toBe(1_030);
  const packed = await app.start(pack, { to: 'Lisbon', grams: 250 });
  expect(await packed.job.result()).toBe('250 g to Lisbon');
});

const invoice = task(
  {
    name: 'invoice',
    input: Order,
    version: '2',
    queue: 'billing',
    priority: 10,
    retry: { maxRetries: 5, baseMs: 500, maxBackoffMs: 60_000 },
    timeout: '30s',
    stepTimeout: '5s',
    deadline: '2d',
    recovery: 'resume',
    signals: ['approval'],
    concurrency: { key: (input) => input.customerId, limit: 4 },
    rateLimit: { limit: 100, per: '1m' },
  },
  async ({ input, step, job, signal, log }) => {
    log.info('an invoice is made', { jobId: job.id, attempt: job.attempt });
    return step.run('render', () => render(input.id, signal));
  },
);

function render(id: string, signal: AbortSignal): string {
  signal.throwIfAborted();
  return `invoice ${id}`;
}

test('every option of a task is one that jobs obey', async () => {
  const { app } = await openApp([invoice], { store: newStore() });
  const { job } = await app.start(invoice, { id: 'o-1', customerId: 'c-1', cents: 1 });
  expect(await job.result()).toBe('invoice o-1');
  const { spec } = await job.status();
  expect(spec).toMatchObject({ version: '2', queue: 'billing', priority: 10, timeoutMs: 30_000 });
  expect(spec).toMatchObject({ stepTimeoutMs: 5_000, concurrencyKey: 'c-1', signals: ['approval'] });
  await expect(job.signal('something-else')).rejects.toMatchObject({ code: 'INVALID_SIGNAL_KEY' });
});
