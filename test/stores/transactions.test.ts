import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { CommitItem, StoreTransaction } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { command, Rig } from '../../src/testkit/index.js';
import { ask, startPostgres, waitsForLock, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** A store, a job that a worker holds, and an application with a ledger in the same database. */
async function ground({ settings = '' } = {}) {
  const url = await server.createDatabase();
  await ask(url, 'CREATE TABLE ledger (amount int UNIQUE DEFERRABLE INITIALLY DEFERRED)');
  const rig = await Rig.start(({ clock }) =>
    postgresStore({ url: `${url}${settings}`, clock, now: () => clock.now() }),
  );
  const begun: StoreTransaction[] = [];
  onTestFinished(async () => {
    for (const transaction of begun) await transaction.rollback();
    await rig.stop();
  });
  const begin = async (): Promise<StoreTransaction> => {
    const transaction = await rig.store.begin();
    begun.push(transaction);
    return transaction;
  };
  const { attemptId } = await rig.running('job_paying');
  const held = { attemptId: attemptId ?? '' };
  const record = (): Promise<CommitItem> => rig.prepare('job_paying', command('record-step', held), held);
  const saved = async () => {
    const ledger = await ask<{ amount: number }>(url, 'SELECT amount FROM ledger ORDER BY amount');
    return { ledger: ledger.map(({ amount }) => amount), commits: (await rig.commits('job_paying')).length };
  };
  return { url, rig, begin, record, saved };
}

const CREATED_AND_CLAIMED = 2;
const clientOf = ({ tx }: StoreTransaction): pg.ClientBase => tx as pg.ClientBase;
const pay = (client: pg.ClientBase, amount: number) =>
  client.query('INSERT INTO ledger VALUES ($1)', [amount]);

async function processOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

test.each(['commit', 'rollback'] as const)(
  'GUA-2 after a %s what the application sends is refused, and reaches no other transaction',
  async (end) => {
    const { rig, record, saved, begin } = await ground();
    const first = await begin();
    const late = clientOf(first);
    await pay(late, 1);
    if (end === 'commit') await first.commit(await record());
    else await first.rollback();

    const second = await begin();
    const refused = { name: 'PawlError', code: 'STALE_ATTEMPT' };
    await expect(pay(late, 2)).rejects.toMatchObject(refused);
    const told = new Promise((resolve) => late.query('INSERT INTO ledger VALUES (3)', resolve));
    expect(await told).toMatchObject(refused);
    const query = new pg.Query('INSERT INTO ledger VALUES (4)');
    const heard = new Promise((resolve) => query.on('error', resolve));
    expect(late.query(query)).toBe(query);
    expect(await heard).toMatchObject(refused);
    await expect(rig.store.commitWithin(late, [])).rejects.toMatchObject(refused);

    await pay(clientOf(second), 5);
    if (end === 'commit') await second.rollback();
    else await second.commit(await record());
    expect((await saved()).ledger).toEqual(end === 'commit' ? [1] : [5]);
  },
);

test.each(['', '?prepare=false'])(
  'GUA-2 a rollback that meets a commit under way waits for it: record and writes are there together%s',
  async (settings) => {
    const { url, record, saved, begin } = await ground({ settings });
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query("BEGIN; SELECT 1 FROM pawl.jobs WHERE job_id = 'job_paying' FOR UPDATE");
    const transaction = await begin();
    await pay(clientOf(transaction), 1);
    const committing = transaction.commit(await record());
    await waitsForLock(url);
    let undone = false;
    const undoing = transaction.rollback().then(() => (undone = true));
    await expect(pay(clientOf(transaction), 2)).rejects.toMatchObject({ code: 'STALE_ATTEMPT' });
    expect(undone).toBe(false);
    await other.query('COMMIT');
    await other.end();
    await undoing;
    expect(await saved()).toEqual({ ledger: [1], commits: CREATED_AND_CLAIMED + 1 });
    expect((await committing).reply).toEqual({ ok: true, repeated: false });
  },
);

test('GUA-2 a commit after a rollback fails, and nothing is recorded', async () => {
  const { record, saved, begin } = await ground();
  const transaction = await begin();
  await pay(clientOf(transaction), 1);
  const item = await record();
  const undoing = transaction.rollback();
  await expect(transaction.commit(item)).rejects.toMatchObject({ code: 'STALE_ATTEMPT' });
  await undoing;
  await expect(transaction.commit(item)).rejects.toMatchObject({ code: 'STALE_ATTEMPT' });
  expect(await saved()).toEqual({ ledger: [], commits: CREATED_AND_CLAIMED });
});

test('GUA-2 a commit that is refused undoes what the application wrote', async () => {
  const { record, saved, begin } = await ground();
  const transaction = await begin();
  await pay(clientOf(transaction), 1);
  const item = { ...(await record()), attemptId: 'another' };
  expect((await transaction.commit(item)).reply).toEqual({ ok: false, code: 'ATTEMPT_GONE' });
  expect(await saved()).toEqual({ ledger: [], commits: CREATED_AND_CLAIMED });
});

test('a connection is used again after a commit; one that was rolled back is not, for its body may still be at it', async () => {
  const { record, begin } = await ground();
  const first = await begin();
  const process = await processOf(clientOf(first));
  await first.commit(await record());
  // As many as there are connections for them, so that one of them has that of the first.
  const four = await Promise.all([begin(), begin(), begin(), begin()]);
  const processes = await Promise.all(four.map((one) => processOf(clientOf(one))));
  const second = four[processes.indexOf(process)] ?? first;
  const unanswered = clientOf(second).query('SELECT pg_sleep(0.05)');
  await second.rollback();
  const third = await begin();
  expect(processes).not.toContain(await processOf(clientOf(third)));
  await unanswered;
  await Promise.all(four.map((one) => one.rollback()));
});

test('what the application gets is a client of `pg`, and the connection stays the store’s', async () => {
  const { rig, record, saved, begin } = await ground();
  const transaction = await begin();
  const client = clientOf(transaction) as pg.PoolClient;
  expect(client).toBeInstanceOf(pg.Client);
  const notices: (string | undefined)[] = [];
  client.once('notice', ({ message }) => notices.push(message));
  await client.query("DO $$ BEGIN RAISE NOTICE 'hear me'; END $$");
  expect(notices).toEqual(['hear me']);
  expect(client.escapeIdentifier('a"b')).toBe('"a""b"');
  client.release();
  await client.end();
  await new Promise((resolve) => client.query('INSERT INTO ledger VALUES (1)', resolve));
  const start = await rig.prepare('job_within', rig.createCommand('job_within'));
  expect((await rig.store.commitWithin(client, [start])).replies).toEqual([{ ok: true, repeated: false }]);
  expect((await transaction.commit(await record())).reply.ok).toBe(true);
  expect((await saved()).ledger).toEqual([1]);
  expect((await rig.load('job_within')).job.status).toBe('queued');
});

test('GUA-11 transactions that stay open take no connection from commits that wait for others', async () => {
  const { rig, begin } = await ground({ settings: '?silence_ms=2000' });
  const identities = [{ tenantId: 'acme', kind: 'key' as const, value: 'taken' }];
  const start = (jobId: string) => rig.prepare(jobId, rig.createCommand(jobId), { identities });
  await rig.store.commit([await start('job_owner')]);
  await Promise.all(Array.from({ length: 4 }, begin));
  const { replies } = await rig.store.commit([await start('job_late')]);
  expect(replies).toEqual([{ ok: false, code: 'IDENTITY_TAKEN', owners: ['job_owner'] }]);
});

/** What a body did, and what its transaction then fails with: the server's own words, or ours with these as the cause. */
const WRONGS: Readonly<
  Record<string, { body: (client: pg.ClientBase) => Promise<unknown>; fails: unknown }>
> = {
  'went on after a statement that failed': {
    body: (client) => client.query('SELECT nothing').catch(() => null),
    fails: {
      message: expect.stringContaining('a statement of the transaction failed'),
      cause: { code: '25P02' },
    },
  },
  'ended the transaction itself': {
    body: (client) => client.query('ROLLBACK'),
    fails: { message: expect.stringContaining('ended within its body'), cause: { code: '25P01' } },
  },
  'broke a constraint that is looked at in the end': {
    body: (client) => client.query('INSERT INTO ledger VALUES (1), (1)'),
    fails: { code: '23505' },
  },
  'gave up the right to write the log': {
    body: (client) => client.query('CREATE ROLE nobody_at_all; SET LOCAL ROLE nobody_at_all'),
    fails: { code: '42501' },
  },
};

test.each(Object.entries(WRONGS))(
  'a body that %s is told apart from an outage, and its connection is used again',
  async (_what, { body, fails }) => {
    const { record, saved, begin } = await ground();
    const transaction = await begin();
    const process = await processOf(clientOf(transaction));
    await body(clientOf(transaction));
    const error: unknown = await transaction.commit(await record()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(fails as object);
    expect(error).not.toMatchObject({ name: 'PawlError' });
    expect(await saved()).toEqual({ ledger: [], commits: CREATED_AND_CLAIMED });
    const next = await begin();
    expect(await processOf(clientOf(next))).toBe(process);
  },
);

test('a body that lets its transaction stand still is told apart from an outage', async () => {
  const { url, record, begin } = await ground();
  const transaction = await begin();
  const client = clientOf(transaction);
  const gone = new Promise((resolve) => client.once('error', resolve));
  await client.query("SET LOCAL idle_in_transaction_session_timeout = '20ms'");
  await gone;
  await expect(transaction.commit(await record())).rejects.toMatchObject({
    name: 'Error',
    message: expect.stringContaining('stood still'),
    cause: { code: '25P03' },
  });
  expect(await ask(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('GUA-11 a connection that is lost before the commit is an outage', async () => {
  const { url, record, saved, begin } = await ground();
  const transaction = await begin();
  const client = clientOf(transaction);
  await pay(client, 1);
  const process = await processOf(client);
  const item = await record();
  const gone = new Promise((resolve) => client.once('end', resolve));
  await ask(url, `SELECT pg_terminate_backend(${process})`);
  await gone;
  await expect(transaction.commit(item)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await transaction.rollback();
  expect(await saved()).toEqual({ ledger: [], commits: CREATED_AND_CLAIMED });
});
