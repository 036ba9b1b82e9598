import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { effect, happened, notHappened, Pawl, task } from '../../src/index.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { LONG } from '../long-mode.js';
import { groundOn, remoteApp, sqliteUrl } from './ground.js';

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const STORES = {
  memory: async () => 'memory:',
  sqlite: async () => sqliteUrl(),
  postgres: () => postgres.createDatabase(),
};
const RESULT = { timeout: '200s' } as const;

const CHOSEN = Object.entries(STORES).filter(([name]) => LONG || name === 'sqlite');

describe.each(CHOSEN)('a remote worker, before a server on %s', (_, url) => {
  test('JOB-12 what it commits is counted by its server', async () => {
    const broken = task({ name: 'broken', retry: { maxRetries: 0 } }, () => {
      throw new Error('always');
    });
    const { app: server, serving, key } = await groundOn(await url());
    const app = await remoteApp(serving.url, { key: await key(), tasks: [broken] });
    const { job } = await app.start(broken, null);
    await expect(job.result(RESULT)).rejects.toMatchObject({ code: 'JOB_FAILED' });
    const { meters } = Pawl.inside(server).engine;
    expect([meters.finished.counts.get('failed'), meters.dlqEntries.counts.get('acme')]).toEqual([1, 1]);
  });

  test('GUA-4 GUA-8 an order with a charge, a nap, an approval and children', async () => {
    const charged = new Map<string, string>();
    const charge = effect({
      name: 'charge',
      run: ({ cents }: { cents: number }, { idempotencyKey }) => {
        charged.set(idempotencyKey, `ch_${cents}`);
        return { id: `ch_${cents}` };
      },
      reconcile: (_input, { idempotencyKey }) => {
        const id = charged.get(idempotencyKey);
        return id ? happened({ id }) : notHappened();
      },
    });
    const ship = task({ name: 'ship' }, ({ input }) => `shipped ${String(input)}`);
    const order = task({ name: 'order', signals: ['approval'] }, async ({ step }) => {
      const { cents } = await step.run('quote', () => ({ cents: 700 }));
      const paid = await step.effect('charge', charge, { cents });
      await step.sleep('nap', '50ms');
      const approved = await step.waitFor<boolean>('approval', { timeout: '1m' });
      const shipped = await Promise.all(['a', 'b', 'c'].map((line) => step.call('ship', ship, line)));
      return { paid, approved, shipped };
    });
    const { app: server, serving, key } = await groundOn(await url());
    const app = await remoteApp(serving.url, { key: await key(), tasks: [order, ship] });
    const { job } = await app.start(order, null, { idempotencyKey: 'order_1' });
    expect((await app.start(order, null, { idempotencyKey: 'order_1' })).idempotentHit).toBe(true);
    await expect.poll(async () => (await job.status()).waits[0]?.key).toBe('approval');
    expect(await job.signal('approval', true)).toBe('delivered');
    expect(await job.signal('approval', false)).toBe('repeated');
    expect(await job.result(RESULT)).toEqual({
      paid: { id: 'ch_700' },
      approved: true,
      shipped: ['shipped a', 'shipped b', 'shipped c'],
    });
    expect(charged.size).toBe(1);
    expect(await server.counts({ tenantId: 'acme' })).toEqual({ succeeded: 4 });
  });

  test('GUA-4 JOB-8 a job that keeps what another has recorded: no charge, no approval and no child comes twice', async () => {
    const done: string[] = [];
    let works = false;
    const charge = effect({ name: 'charge', run: (what: string) => (done.push(what), `paid ${what}`) });
    const ship = task({ name: 'ship' }, ({ step }) => step.effect('postage', charge, 'postage'));
    const bill = task({ name: 'bill', retry: { maxRetries: 0 } }, async ({ step }) => {
      const stamp = await step.effect('stamp', charge, 'stamp');
      if (!works) throw new Error('no ink');
      return stamp;
    });
    const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
      const paid = await step.effect('charge', charge, 'goods');
      const approved = await step.waitFor('approval');
      const shipped = await step.call('ship', ship, null);
      return { paid, approved, shipped, billed: await step.call('bill', bill, null) };
    });
    const { app: server, serving, key } = await groundOn(await url());
    const app = await remoteApp(serving.url, { key: await key(), tasks: [order, ship, bill] });
    const { job } = await app.start(order, null);
    await job.signal('approval', 'yes');
    await expect(job.result(RESULT)).rejects.toMatchObject({ code: 'JOB_FAILED' });
    works = true;
    const letters = await server.deadLetters.list({ tenantId: 'acme' });
    const letter = letters.find(({ jobId }) => jobId === job.id);
    const next = await server.deadLetters.requeue(`${letter?.dlqId}`, { by: 'ann', keepRecorded: true });
    expect(await next.result(RESULT)).toEqual({
      paid: 'paid goods',
      approved: 'yes',
      shipped: 'paid postage',
      billed: 'paid stamp',
    });
    expect(done).toEqual(['goods', 'postage', 'stamp']);
    const { effects } = Pawl.inside(server).engine.meters;
    expect(Object.fromEntries(effects.counts)).toEqual({ entered: 3, recorded: 3 });
  });

  test('500 jobs are run by two remote workers, each once', async () => {
    const runs: number[] = [];
    const job = task({ name: 'job' }, ({ input }) => runs.push(input as number));
    const { serving, key } = await groundOn(await url());
    const one = await remoteApp(serving.url, { key: await key(), tasks: [job] });
    await remoteApp(serving.url, { key: await key(), tasks: [job] });
    const inputs = Array.from({ length: 500 }, (_unused, n) => n);
    const all = await one.startMany(
      job,
      inputs.map((input) => ({ input })),
    );
    await Promise.all(all.map((started) => started.job.result(RESULT)));
    expect(runs.toSorted((a, b) => a - b)).toEqual(inputs);
  });

  test('a job that fails is retried, then dead-lettered with its item', async () => {
    let runs = 0;
    const job = task({ name: 'job', retry: { maxRetries: 1, baseMs: 20, jitterMs: 0 } }, () => {
      runs += 1;
      throw new Error('no');
    });
    const { app: server, serving, key } = await groundOn(await url());
    const app = await remoteApp(serving.url, { key: await key(), tasks: [job] });
    const { job: handle } = await app.start(job, null);
    await expect(handle.result(RESULT)).rejects.toMatchObject({ code: 'JOB_FAILED' });
    expect(runs).toBe(2);
    expect(await server.deadLetters.list()).toMatchObject([{ jobId: handle.id }]);
  });

  test('a cancelled job’s handler hears of it at once', async () => {
    let aborted = 0;
    const job = task(
      { name: 'job' },
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted += 1;
            reject(new Error('stop'));
          });
        }),
    );
    const { serving, key } = await groundOn(await url());
    const token = await key();
    await remoteApp(serving.url, { key: token, tasks: [job], work: { lease: '1m' } });
    const client = await remoteApp(serving.url, { key: token, tasks: [job], work: false });
    const { job: handle } = await client.start(job, null);
    await expect.poll(async () => (await handle.status()).status).toBe('running');
    await handle.cancel();
    await expect.poll(() => aborted).toBe(1);
    expect((await handle.status()).status).toBe('cancelled');
  });

  test('DEC-5 a remote worker that stops hands its job back, and another finishes it', async () => {
    let runs = 0;
    const job = task({ name: 'job' }, () => (++runs === 1 ? new Promise(() => undefined) : 'by another'));
    const { serving, key } = await groundOn(await url());
    const first = await remoteApp(serving.url, { key: await key(), tasks: [job] });
    const { job: handle } = await first.start(job, null);
    await expect.poll(() => runs).toBe(1);
    await first.stop();
    expect(await handle.status()).toMatchObject({ status: 'interrupted', interruptedReason: 'drained' });
    const second = await remoteApp(serving.url, { key: await key(), tasks: [job] });
    expect(await second.job(handle.id).result(RESULT)).toBe('by another');
  });

  test('GUA-12 a long loop goes on from its checkpoint', async () => {
    let pauses = 0;
    const job = task({ name: 'loop' }, async ({ step }) => {
      let { n, sum } = step.resume({ n: 0, sum: 0 });
      while (n < 6) {
        if (n === 3) {
          pauses += 1;
          await step.sleep('nap', '1500ms');
        }
        sum += await step.run('add', () => n);
        n += 1;
        await step.checkpoint({ n, sum });
      }
      return sum;
    });
    const { serving, key } = await groundOn(await url());
    const app = await remoteApp(serving.url, { key: await key(), tasks: [job] });
    const { job: handle } = await app.start(job, null);
    expect(await handle.result(RESULT)).toBe(15);
    expect(pauses).toBe(2);
  });
});

test('a server needs no worker of its own: it sees to what remote workers leave behind', async () => {
  const { serving, key } = await groundOn(sqliteUrl());
  const nap = task({ name: 'nap' }, async ({ step }) => {
    await step.sleep('long', '1500ms');
    return 'awake';
  });
  const app = await remoteApp(serving.url, { key: await key(), tasks: [nap] });
  expect(await (await app.start(nap, null)).job.result(RESULT)).toBe('awake');
});

test('step.transaction takes a store of one’s own', async () => {
  const { serving, key } = await groundOn('memory:');
  const job = task({ name: 'job', retry: { maxRetries: 0 } }, ({ step }) =>
    step.transaction('book', () => null),
  );
  const app = await remoteApp(serving.url, { key: await key(), tasks: [job] });
  const { job: handle } = await app.start(job, null);
  await expect(handle.result(RESULT)).rejects.toThrow('TX_UNSUPPORTED');
});

test('what belongs to a server’s own applications is refused by name', async () => {
  const { serving, key } = await groundOn('memory:');
  const app = await remoteApp(serving.url, { key: await key(), tasks: [], work: false });
  const queued = task({ name: 'queued' }, () => null);
  const { job } = await app.start(queued, null);
  const cases: readonly (readonly [() => Promise<unknown>, string, string])[] = [
    [() => app.counts(), "'counts'", '/api/v1/overview'],
    [() => app.unknownEffects(), "'unknownEffects'", '/api/v1/effects/unknown'],
    [() => job.why(), "'why'", '/api/v1/jobs/:job_id/why'],
    [() => app.deadLetters.list(), "'deadLetters'", '/api/v1/dlq'],
    [() => app.deadLetters.get('no-such-item'), "'deadLetters'", '/api/v1/dlq'],
    [() => app.schedules.list(), "'schedules'", '/api/v1/schedules'],
    [() => app.schedules.pause('nightly'), "'schedules'", '/api/v1/schedules'],
    [() => app.alerts.list(), "'alerts'", '/api/v1/alerts'],
    [() => app.callbacks.dead(), "'callbacks'", '/api/v1/callbacks'],
  ];
  for (const [ask, what, where] of cases) {
    const error: unknown = await ask().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'REMOTE_UNSUPPORTED' });
    expect(String(error)).toContain(what);
    expect(String(error)).toContain(where);
  }
});

test('what an operator says of an effect is not for a remote application, either', async () => {
  const { app: server, serving, key } = await groundOn('memory:');
  const charge = effect({
    name: 'charge',
    run: () => {
      throw new Error('no answer');
    },
  });
  const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, null));
  const app = await remoteApp(serving.url, { key: await key(), tasks: [order] });
  const { job } = await app.start(order, null);
  await expect.poll(async () => (await job.status()).status).toBe('waiting');
  const verdict = { step: 'charge', by: 'ann', verdict: 'fail' } as const;
  const refused: unknown = await app.resolveEffect(job.id, verdict).catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ code: 'REMOTE_UNSUPPORTED' });
  expect(String(refused)).toContain('POST /api/v1/jobs/:job_id/effects/resolve');
  await server.resolveEffect(job.id, verdict);
  await expect(job.result(RESULT)).rejects.toMatchObject({ code: 'JOB_FAILED' });
});

test('JOB-7 a remote application cannot abandon a job; its server can, and the remote handler is aborted', async () => {
  const { app: server, serving, key } = await groundOn('memory:');
  const signals: AbortSignal[] = [];
  const stuck = task({ name: 'stuck' }, ({ signal }) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  const app = await remoteApp(serving.url, { key: await key(), tasks: [stuck] });
  const { job } = await app.start(stuck, null);
  await expect.poll(() => signals.length).toBe(1);
  const why = { by: 'ann', reason: 'never ends' };
  const refused: unknown = await app.abandon(job.id, why).catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ code: 'REMOTE_UNSUPPORTED' });
  expect(String(refused)).toContain("'abandon'");
  expect(String(refused)).toContain('POST /api/v1/jobs/:job_id/abandon');
  expect((await job.status()).status).toBe('running');
  await server.abandon(job.id, why);
  await expect.poll(() => signals[0]?.aborted).toBe(true);
  await expect(job.result(RESULT)).rejects.toMatchObject({ code: 'JOB_FAILED' });
});
