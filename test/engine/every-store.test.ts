import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import {
  effect,
  happened,
  notHappened,
  pawl,
  task,
  type Pawl,
  type StatementList,
  type WorkOptions,
} from '../../src/index.js';
import type { AnyTask } from '../../src/client/task.js';
import { ask, startPostgres } from '../postgres-server.js';
import { storeFolder } from '../store-folder.js';

const folder = storeFolder('pawl-engine-');
let server: Awaited<ReturnType<typeof startPostgres>>;
let databases = 0;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const STORES = {
  sqlite: async () => `sqlite:${join(folder, `${++databases}.db`)}`,
  postgres: async () => server.createDatabase(),
};

async function open(url: string, tasks: readonly AnyTask[], work: WorkOptions | false = {}): Promise<Pawl> {
  const app = await pawl({ store: url, tasks });
  onTestFinished(() => app.close());
  if (work !== false) await app.work({ lease: '2s', poll: '200ms', drain: 0, stopOnSignal: false, ...work });
  return app;
}

const RESULT = { timeout: '200s' } as const;
/** Within the time of a test: a worker hears of nothing by them. */
const NO_HEARTBEATS = { lease: '10m' } as const;

describe.each(Object.entries(STORES))('on %s', (name, url) => {
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
    const order = task({ name: 'order' }, async ({ step }) => {
      const { cents } = await step.run('quote', () => ({ cents: 700 }));
      const paid = await step.effect('charge', charge, { cents });
      await step.sleep('nap', '50ms');
      const approved = await step.waitFor<boolean>('approval', { timeout: '1m' });
      const shipped = await Promise.all(['a', 'b', 'c'].map((line) => step.call('ship', ship, line)));
      return { paid, approved, shipped };
    });
    const app = await open(await url(), [order, ship]);
    const { job } = await app.start(order, null);
    await expect.poll(() => job.why()).toMatchObject({ code: 'signal' });
    expect(await job.signal('approval', true)).toBe('delivered');
    expect(await job.result(RESULT)).toEqual({
      paid: { id: 'ch_700' },
      approved: true,
      shipped: ['shipped a', 'shipped b', 'shipped c'],
    });
    expect(charged.size).toBe(1);
  });

  test('500 jobs are run by two apps, each once', async () => {
    const runs: number[] = [];
    const job = task({ name: 'job' }, ({ input }) => runs.push(input as number));
    const where = await url();
    // Long enough for a busy machine: a lease that runs out lets a job be run again, rightly.
    const work = { lease: '60s' } as const;
    const one = await open(where, [job], work);
    await open(where, [job], work);
    const inputs = Array.from({ length: 500 }, (_, n) => n);
    const all = await one.startMany(
      job,
      inputs.map((input) => ({ input })),
    );
    await Promise.all(all.map((started) => started.job.result(RESULT)));
    expect(runs.toSorted((a, b) => a - b)).toEqual(inputs);
  });

  test('step.transaction: the writes and the record are there together, or not at all', async () => {
    const where = await url();
    const read = await ledgerOf(name, where);
    let fails = 1;
    const job = task({ name: 'job', retry: { baseMs: 20, jitterMs: 0 } }, async ({ step }) => {
      await step.transaction<null, pg.ClientBase & StatementList>('book', async (tx) => {
        if (name === 'sqlite') tx.run('INSERT INTO ledger (amount) VALUES (?)', 5);
        else await tx.query('INSERT INTO ledger (amount) VALUES (5)');
        if (fails-- > 0) throw new Error('after the write');
        return null;
      });
      await step.run('again', () => {
        if (fails-- > -2) throw new Error('after the record');
      });
      return 'booked';
    });
    const app = await open(where, [job]);
    const { job: handle } = await app.start(job, null);
    expect(await handle.result(RESULT)).toBe('booked');
    expect(await read()).toEqual([5]);
    expect((await handle.status()).retryCount).toBe(2);
  });

  test('a cancelled job’s handler hears of it at once, also in another process', async () => {
    const where = await url();
    let aborted = 0;
    const job = task(
      { name: 'job' },
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted += 1;
            reject(new Error('stop'));
          });
        }),
    );
    await open(where, [job], NO_HEARTBEATS);
    const client = await open(where, [job], false);
    const { job: handle } = await client.start(job, null);
    await expect.poll(async () => (await handle.status()).status).toBe('running');
    await handle.cancel();
    await expect.poll(() => aborted).toBe(1);
    expect((await handle.status()).status).toBe('cancelled');
  });

  test('GUA-8 a job that is run and waits hears of its signal at once, also from another process', async () => {
    const where = await url();
    let release: () => void = () => undefined;
    const heard: unknown[] = [];
    const job = task({ name: 'job' }, async ({ step }) => {
      const long = step.run('long', () => new Promise<void>((resolve) => (release = resolve)));
      heard.push(await step.waitFor('go', { timeout: '1m' }));
      await long;
      return heard;
    });
    await open(where, [job], NO_HEARTBEATS);
    const client = await open(where, [job], false);
    const { job: handle } = await client.start(job, null);
    await expect.poll(async () => (await handle.status()).status).toBe('running');
    await handle.signal('go', 7);
    await expect.poll(() => heard).toEqual([7]);
    release();
    expect(await handle.result(RESULT)).toEqual([7]);
  });

  test('DEC-5 a worker that stops hands its job back, and another finishes it', async () => {
    const where = await url();
    let runs = 0;
    const job = task({ name: 'job' }, () => (++runs === 1 ? new Promise(() => undefined) : 'by another'));
    const first = await open(where, [job]);
    const { job: handle } = await first.start(job, null);
    await expect.poll(() => runs).toBe(1);
    await first.stop();
    expect(await handle.status()).toMatchObject({ status: 'interrupted', interruptedReason: 'drained' });
    const second = await open(where, [job]);
    expect(await second.job(handle.id).result(RESULT)).toBe('by another');
    expect(await handle.status()).toMatchObject({ retryCount: 0, recoveryCount: 0 });
  });
});

test('start with tx: the job exists if and when the application’s transaction commits', async () => {
  const where = await STORES.postgres();
  const job = task({ name: 'job' }, ({ input }) => input);
  const app = await open(where, [job]);
  const client = new pg.Client({ connectionString: where });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('CREATE TABLE orders (id int)');
  for (const end of ['ROLLBACK', 'COMMIT']) {
    await client.query('BEGIN');
    await client.query('INSERT INTO orders VALUES (1)');
    const { job: handle } = await app.start(job, end, { tx: client });
    expect(
      await app
        .job(handle.id)
        .status()
        .catch((error: { code: string }) => error.code),
    ).toBe('JOB_NOT_FOUND');
    await client.query(end);
    if (end === 'COMMIT') expect(await handle.result(RESULT)).toBe('COMMIT');
    else await expect(handle.status()).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
  }
  expect((await client.query('SELECT * FROM orders')).rowCount).toBe(1);
});

/** A table of the application in Pawl's own database, and how to read it. */
async function ledgerOf(name: string, where: string): Promise<() => Promise<number[]>> {
  if (name === 'sqlite') {
    const path = where.slice('sqlite:'.length);
    const db = await openDatabase(path);
    db.exec('CREATE TABLE ledger (amount INTEGER)');
    db.close();
    return async () => {
      const reader = await openDatabase(path);
      const rows = reader.prepare('SELECT amount FROM ledger').all() as unknown as { amount: number }[];
      reader.close();
      return rows.map(({ amount }) => amount);
    };
  }
  await ask(where, 'CREATE TABLE ledger (amount int)');
  return async () => {
    const client = new pg.Client({ connectionString: where });
    await client.connect();
    const { rows } = await client.query<{ amount: number }>('SELECT amount FROM ledger');
    await client.end();
    return rows.map(({ amount }) => amount);
  };
}
