import { expect, test } from 'vitest';
import { task, type HandlerContext } from '../../src/index.js';
import { advanceUntil } from '../../src/testkit/index.js';
import { openApp } from './open-app.js';

const calls: string[] = [];
const rates = { fetch: async () => ({ eur: 1.08 }) };
const stock = { reserve: async (line: string) => calls.push(`reserve ${line}`) };

test('steps are run once, in parallel where the handler says so', async () => {
  const quote = task({ name: 'quote' }, async ({ input, step }: HandlerContext<{ lines: string[] }>) => {
    const { eur } = await step.run('rate', () => rates.fetch());
    const [tax, weight] = await Promise.all([
      step.run('tax', () => 0.21),
      step.run('weight', () => input.lines.length * 400),
    ]);
    for (const line of input.lines) await step.run('reserve', () => stock.reserve(line));
    return { eur, tax, weight };
  });

  const { app } = await openApp([quote]);
  const { job } = await app.start(quote, { lines: ['cup', 'pot'] });
  expect(await job.result()).toEqual({ eur: 1.08, tax: 0.21, weight: 800 });
  expect(calls).toEqual(['reserve cup', 'reserve pot']);
});

test('a step may be tried again by itself, and has a time limit', async () => {
  let tries = 0;
  const flaky = {
    get: async (_signal: AbortSignal) => (++tries < 3 ? Promise.reject(new Error('503')) : 'ok'),
  };

  const patient = task({ name: 'patient' }, async ({ step, job }) => {
    const answer = await step.run('ask', ({ signal }) => flaky.get(signal), {
      timeout: '10s',
      retry: { maxRetries: 5, baseMs: 1_000 },
    });
    return { answer, attempt: job.attempt };
  });

  const { app, clock } = await openApp([patient]);
  const { job } = await app.start(patient, null);
  expect(await advanceUntil(clock, job.result())).toEqual({ answer: 'ok', attempt: 1 });
  expect(tries).toBe(3);
});

test('sleeping and waiting', async () => {
  const trial = task({ name: 'trial' }, async ({ step }) => {
    await step.sleep('settle-in', '3d');
    await step.sleepUntil('new-year', new Date('2027-01-01T00:00:00Z'));
    const answer = await step.waitFor<{ plan: string }>('choice', { timeout: '7d', reason: 'which plan?' });
    return answer === undefined ? 'no answer' : answer.plan;
  });

  const { app, clock } = await openApp([trial], { work: { poll: '1d' } });
  const { job } = await app.start(trial, null);

  const answer = await job.signal('choice', { plan: 'yearly' });

  expect(answer).toBe('kept');
  expect(await job.signal('choice', { plan: 'monthly' })).toBe('repeated');
  await advanceUntil(clock, async () => (await job.status()).status === 'succeeded');
  expect(await job.result()).toBe('yearly');
  expect(clock.now()).toBeGreaterThanOrEqual(Date.UTC(2027, 0, 1));

  const silent = await app.start(trial, null);
  await advanceUntil(clock, async () => (await silent.job.status()).status === 'succeeded');
  expect(await silent.job.result()).toBe('no answer');
});

test('children', async () => {
  const ship = task({ name: 'ship' }, ({ input }: HandlerContext<{ line: string }>) => {
    if (input.line === 'elephant') throw new Error('too heavy');
    return `${input.line} shipped`;
  });

  const shipAll = task({ name: 'ship-all' }, async ({ input, step }: HandlerContext<string[]>) => {
    const shipped = await Promise.allSettled(input.map((line) => step.call('ship', ship, { line })));
    return shipped.map((one) => (one.status === 'fulfilled' ? one.value : 'not shipped'));
  });

  const { app, clock } = await openApp([ship, shipAll]);
  const { job } = await app.start(shipAll, ['cup', 'elephant']);
  expect(await advanceUntil(clock, job.result())).toEqual(['cup shipped', 'not shipped']);
});

test('time, chance and ids that a replay repeats', async () => {
  const draw = task({ name: 'draw' }, async ({ step }) => {
    const before = { at: await step.now(), luck: await step.random(), ticket: await step.uuid() };
    await step.sleep('a day', '1d');
    return { before, after: await step.now() };
  });

  const { app, clock } = await openApp([draw]);
  const { job } = await app.start(draw, null);
  await advanceUntil(clock, async () => (await job.status()).status === 'succeeded');
  const { before, after } = await job.result();
  expect(before.at).toBe(Date.UTC(2026, 0, 1));
  expect(before.luck).toBeLessThan(1);
  expect(before.ticket).toMatch(/^[0-9a-f-]{36}$/);
  expect(after - before.at).toBeGreaterThanOrEqual(86_400_000);
});

test('long loops', async () => {
  const pages = [['a', 'b'], ['c'], ['d', 'e']];
  let asked = 0;
  const source = { page: async (at: number) => (asked++, pages[at] ?? []) };

  const copy = task({ name: 'copy' }, async ({ step }) => {
    const state = step.resume({ page: 0, copied: 0 });
    for (;;) {
      const rows = await step.run('page', () => source.page(state.page));
      if (rows.length === 0) return state.copied;
      state.copied += rows.length;
      state.page += 1;
      await step.sleep('breathe', '1m');
      await step.checkpoint(state);
    }
  });

  const { app, clock } = await openApp([copy]);
  const { job } = await app.start(copy, null);
  await advanceUntil(clock, async () => (await job.status()).status === 'succeeded');
  expect(await job.result()).toBe(5);
  expect(asked).toBe(4);
});
