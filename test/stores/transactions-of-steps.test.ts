import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { pawl, task, type JobHandle, type Pawl, type StatementList } from '../../src/index.js';
import type { AnyTask } from '../../src/client/task.js';
import type { Store, StoreTransaction } from '../../src/ports/store.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { command, fakeClock, Rig, T0, testApp } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';
import { storeFolder } from '../store-folder.js';

const folder = storeFolder('pawl-transactions-');
let files = 0;
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const TABLES = [
  'CREATE TABLE ledger (amount int UNIQUE)',
  'CREATE TABLE accounts (id int PRIMARY KEY)',
  'CREATE TABLE payments (account int REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED)',
];
const COUNT = 'SELECT count(*) AS count FROM ledger';

type Ledger = { readonly url: string; readonly count: () => Promise<number> };

async function postgresLedger(): Promise<Ledger> {
  const url = await server.createDatabase();
  for (const sql of TABLES) await ask(url, sql);
  return { url, count: async () => Number((await ask<{ count: string }>(url, COUNT))[0]?.count) };
}

async function sqliteLedger(): Promise<Ledger> {
  const path = join(folder, `${++files}.db`);
  const db = await openDatabase(path);
  onTestFinished(() => db.close());
  for (const sql of TABLES) db.exec(sql);
  return { url: `sqlite:${path}`, count: async () => Number(db.prepare(COUNT).get()?.['count']) };
}

async function open(url: string, tasks: readonly AnyTask[]): Promise<Pawl> {
  const app = await pawl({ store: url, tasks });
  onTestFinished(() => app.close());
  await app.work({ lease: '2s', poll: '200ms', drain: 0, stopOnSignal: false });
  return app;
}

const RETRY = { maxRetries: 1, baseMs: 10, jitterMs: 0 } as const;

/** Runs a job whose only step is a transaction, to its end. */
async function runOnce(url: string, body: (tx: never) => unknown): Promise<JobHandle> {
  const paying = task({ name: 'paying', retry: RETRY }, ({ step }) => step.transaction('pay', body));
  const app = await open(url, [paying]);
  const { job } = await app.start(paying, null);
  await expect(job.result({ timeout: '200s' })).rejects.toMatchObject({ code: 'JOB_FAILED' });
  return job;
}

describe('GUA-7 what a body wrote wrongly fails its step, by the policy of the task and then as a dead letter', () => {
  const ON_POSTGRES: Readonly<Record<string, (tx: pg.ClientBase) => Promise<unknown>>> = {
    'a statement that failed and was caught': async (tx) => {
      await tx.query('INSERT INTO ledger VALUES (1)');
      await tx.query('INSERT INTO ledger VALUES (1)').catch(() => null);
    },
    'a constraint that is looked at in the end': (tx) => tx.query('INSERT INTO payments VALUES (7)'),
    'a transaction that it ended itself': (tx) => tx.query('ROLLBACK'),
  };
  test.each(Object.entries(ON_POSTGRES))('on Postgres: %s', async (_what, body) => {
    const { url, count } = await postgresLedger();
    const job = await runOnce(url, async (tx) => void (await body(tx)));
    expect(await job.status()).toMatchObject({ status: 'failed', retryCount: 1, recoveryCount: 0 });
    expect(await count()).toBe(0);
  });

  const ON_SQLITE: Readonly<Record<string, readonly [sql: string, ...values: readonly unknown[]]>> = {
    'a table that is not there': ['INSERT INTO nowhere VALUES (1)'],
    'a row that is there': ['INSERT INTO ledger VALUES (1)'],
    'a value that cannot be stored': ['INSERT INTO ledger VALUES (?)', { amount: 1 }],
    'more values than the statement takes': ['INSERT INTO ledger VALUES (?)', 2, 3],
    'a constraint that is looked at in the end': ['INSERT INTO payments VALUES (7)'],
    'a transaction that it ended itself': ['ROLLBACK'],
  };
  test.each(Object.entries(ON_SQLITE))('on SQLite: %s', async (_what, [sql, ...values]) => {
    const { url, count } = await sqliteLedger();
    const job = await runOnce(url, (tx: StatementList) => {
      tx.run('INSERT INTO ledger VALUES (1)');
      tx.run(sql, ...(values as never[]));
    });
    expect(await job.status()).toMatchObject({ status: 'failed', retryCount: 1, recoveryCount: 0 });
    expect(await count()).toBe(0);
  });

  test('on SQLite: several statements in one text, of which it would run the first and leave out the rest', async () => {
    const { url, count } = await sqliteLedger();
    const job = await runOnce(url, (tx: StatementList) => {
      tx.run('INSERT INTO ledger VALUES (1);');
      tx.run('INSERT INTO ledger VALUES (2); INSERT INTO ledger VALUES (3)');
    });
    expect(await job.status()).toMatchObject({ status: 'failed', failure: { code: 'INVALID_OPTION' } });
    expect(await count()).toBe(0);
  });

  test('a handler may catch it, and goes on', async () => {
    const { url, count } = await sqliteLedger();
    const paying = task({ name: 'paying' }, async ({ step }) => {
      const paid = step.transaction<void, StatementList>('pay', (tx) =>
        tx.run('INSERT INTO nowhere VALUES (1)'),
      );
      const problem = await paid.catch((error: Error) => error.message);
      await step.transaction<void, StatementList>('pay elsewhere', (tx) =>
        tx.run('INSERT INTO ledger VALUES (1)'),
      );
      return problem;
    });
    const app = await open(url, [paying]);
    const { job } = await app.start(paying, null);
    expect(await job.result({ timeout: '200s' })).toContain('no such table');
    expect(await count()).toBe(1);
    expect((await job.status()).retryCount).toBe(0);
  });
});

test('GUA-2 a body that goes on after its time is up writes into no transaction, neither its own nor another’s', async () => {
  const { url, count } = await postgresLedger();
  const gates = new Map<string, () => void>();
  const until = (name: string) => new Promise<void>((resolve) => gates.set(name, resolve));
  const [isOver, isLate] = [until('over'), until('late')];
  const late: unknown[] = [];
  const slow = task({ name: 'slow', stepTimeout: '50ms', retry: { maxRetries: 0 } }, ({ step }) =>
    step.transaction<void, pg.ClientBase>('pay', async (tx) => {
      await tx.query('INSERT INTO ledger VALUES (1)');
      await isOver;
      late.push(await tx.query('INSERT INTO ledger VALUES (2)').catch((error: unknown) => error));
      gates.get('late')?.();
    }),
  );
  const other = task({ name: 'other' }, ({ step }) =>
    step.transaction<void, pg.ClientBase>('pay', async (tx) => {
      await tx.query('INSERT INTO ledger VALUES (3)');
      gates.get('over')?.();
      await isLate;
    }),
  );
  const app = await open(url, [slow, other]);
  const { job: first } = await app.start(slow, null);
  await expect(first.result({ timeout: '200s' })).rejects.toMatchObject({ code: 'JOB_FAILED' });
  expect((await first.status()).failure?.code).toBe('STEP_TIMEOUT');
  const { job: second } = await app.start(other, null);
  await second.result({ timeout: '200s' });
  expect(late).toMatchObject([{ name: 'PawlError', code: 'STALE_ATTEMPT' }]);
  expect(await count()).toBe(1);
});

describe('GUA-2 a transaction on SQLite ends once', () => {
  async function ground() {
    const { url, count } = await sqliteLedger();
    const path = url.slice('sqlite:'.length);
    const rig = await Rig.start(({ clock }) => sqliteStore({ path, clock }));
    onTestFinished(() => rig.stop());
    const { attemptId } = await rig.running('job_paying');
    const held = { attemptId: attemptId ?? '' };
    const item = await rig.prepare('job_paying', command('record-step', held), held);
    const transaction = await rig.store.begin();
    const tx = transaction.tx as StatementList;
    tx.run('INSERT INTO ledger VALUES (1)');
    const saved = async () => [await count(), (await rig.commits('job_paying')).length];
    return { path, rig, transaction, tx, item, saved };
  }
  const OVER = { name: 'PawlError', code: 'STALE_ATTEMPT' };

  test('after a rollback nothing is taken down, and a commit records nothing', async () => {
    const { transaction, tx, item, saved } = await ground();
    await transaction.rollback();
    expect(() => tx.run('INSERT INTO ledger VALUES (2)')).toThrow(expect.objectContaining(OVER));
    await expect(transaction.commit(item)).rejects.toMatchObject(OVER);
    expect(await saved()).toEqual([0, 2]);
  });

  test('a rollback that meets a commit under way waits for it: record and writes are there together', async () => {
    const { path, rig, transaction, item, saved } = await ground();
    const other = await openDatabase(path);
    other.exec('BEGIN IMMEDIATE');
    const committing = transaction.commit(item);
    let undone = false;
    const undoing = transaction.rollback().then(() => (undone = true));
    rig.clock.advance(3);
    await new Promise((resolve) => void setImmediate(resolve));
    expect(undone).toBe(false);
    other.exec('COMMIT');
    other.close();
    rig.clock.advance(3);
    await undoing;
    expect(await saved()).toEqual([1, 3]);
    expect((await committing).reply.ok).toBe(true);
  });
});

/** A store whose transactions begin when they are let, and what was done with them. */
function slowToBegin() {
  const clock = fakeClock(T0);
  const done: string[] = [];
  let letBegin: () => void = () => undefined;
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const may = new Promise<void>((resolve) => (letBegin = resolve));
  const transaction: StoreTransaction = {
    tx: null,
    commit: () => Promise.reject(new Error('there is nothing to commit')),
    rollback: async () => void done.push('rollback'),
  };
  const begin = async (): Promise<StoreTransaction> => {
    asked();
    await may;
    return transaction;
  };
  const store: Store = { ...memoryStore({ clock }), begin };
  return { clock, store, done, isAsked, letBegin };
}

test('GUA-2 an attempt that ends while its transaction waits for a connection enters no body', async () => {
  const { clock, store, done, isAsked, letBegin } = slowToBegin();
  const paying = task({ name: 'paying' }, ({ step }) =>
    step.transaction('pay', () => void done.push('body')),
  );
  const rig = await testApp({ tasks: [paying], clock, store });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(paying, null);
  await rig.run(isAsked);
  await job.cancel();
  await rig.idle();
  letBegin();
  await rig.idle();
  expect(done).toEqual(['rollback']);
});
