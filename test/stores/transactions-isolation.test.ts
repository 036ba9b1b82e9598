import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { Session, type Queries } from '../../src/stores/postgres/session.js';
import { begin } from '../../src/stores/postgres/transaction.js';
import { command, Rig } from '../../src/testkit/index.js';
import { ask, startPostgres, waitsForLock, type PostgresServer } from '../postgres-server.js';
import { behindPooler } from './behind-pooler.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** A database in which transactions see what was there when they began, unless they say otherwise. */
async function strictDatabase(level: 'repeatable read' | 'serializable'): Promise<string> {
  const url = await server.createDatabase();
  const name = new URL(url).pathname.slice(1);
  await ask(url, `ALTER DATABASE ${name} SET default_transaction_isolation = '${level}'`);
  return url;
}

const levelOf = async (db: Pick<Queries, 'rows'>): Promise<string> => {
  const [row] = await db.rows<{ level: string }>("SELECT current_setting('transaction_isolation') AS level");
  return row?.level ?? '';
};

async function levels(url: string) {
  const session = new Session({ url });
  onTestFinished(() => session.close());
  const body = await begin(session);
  const inBody = await levelOf(session.within(body.tx as pg.ClientBase));
  await body.rollback();
  const inTransactions = [
    await session.transaction(levelOf),
    await session.ending(async (db) => ({ answer: await levelOf(db), last: null })),
    await session.patient(levelOf),
    await session.careful(levelOf),
    await session.leasing(levelOf),
    inBody,
  ];
  return {
    inTransactions: new Set(inTransactions),
    listed: await levelOf(session.listed),
    single: await levelOf(session.single),
  };
}

test.each(['repeatable read', 'serializable'] as const)(
  'GUA-2 every transaction is read committed, whatever the database’s default is: %s',
  async (level) => {
    const url = await strictDatabase(level);
    const committed = 'read committed';
    expect(await levels(url)).toEqual({
      inTransactions: new Set([committed]),
      listed: committed,
      single: committed,
    });
    // A pooler would hand what is set for a session to others: only a statement by itself, with its one snapshot, is left as it is.
    const pooled = await behindPooler(url);
    expect(await levels(pooled)).toEqual({
      inTransactions: new Set([committed]),
      listed: committed,
      single: level,
    });
    expect(await ask(url, 'SHOW transaction_isolation')).toEqual([{ transaction_isolation: level }]);
  },
);

test('a body may ask for a stricter level, before all else', async () => {
  const session = new Session({ url: await server.createDatabase() });
  onTestFinished(() => session.close());
  const transaction = await begin(session);
  const client = transaction.tx as pg.ClientBase;
  await client.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
  expect(await levelOf(session.within(client))).toBe('serializable');
  await transaction.rollback();
});

test('GUA-4 an entry is not closed over a result that was stored while the commit waited, whatever the database’s default is', async () => {
  const url = await strictDatabase('repeatable read');
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(async () => {
    await other.end();
    await rig.stop();
  });
  const { attemptId } = await rig.running('job_effect');
  const held = { attemptId: attemptId ?? '' };
  await rig.give('job_effect', command('begin-effect', held));
  await rig.give('job_effect', command('doubt-effect', held));
  const noResultOf = { step: 'charge', occurrence: 1, entry: 1 };
  rig.clock.advance(1_000_000);
  const closing = await rig.prepare(
    'job_effect',
    command('reconcile-effect', { ...held, now: rig.clock.now() }),
    { noResultOf },
  );
  await other.query("BEGIN; SELECT 1 FROM pawl.jobs WHERE job_id = 'job_effect' FOR KEY SHARE");
  const reply = rig.store.commit([closing]);
  await waitsForLock(url);
  await other.query(
    `INSERT INTO pawl.effects (job_id, step, occurrence, entry, result) VALUES ('job_effect', 'charge', 1, 1, '"paid"')`,
  );
  await other.query('COMMIT');
  expect((await reply).replies).toEqual([{ ok: false, code: 'RESULT_STORED' }]);
});

test('GUA-11 what a body sets for its session reaches no other body', async () => {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  onTestFinished(() => rig.stop());
  const seen: unknown[] = [];
  const pids = new Set<number>();
  for (let n = 0; n < 8; n++) {
    const { attemptId } = await rig.running(`job_body_${n}`);
    const transaction = await rig.store.begin();
    const client = transaction.tx as pg.ClientBase;
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pg_backend_pid() AS pid, current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout,
       to_regclass('scratch') AS scratch, (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND objid = 77) AS locks`,
    );
    for (const { pid, ...session } of rows) {
      pids.add(pid);
      seen.push(session);
    }
    await client.query('CREATE TEMP TABLE scratch ()');
    await client.query(
      "SET search_path TO tenant_a; SET statement_timeout = '1234ms'; SELECT pg_advisory_lock(77)",
    );
    await transaction.commit(
      await rig.prepare(`job_body_${n}`, command('complete', { attemptId: attemptId ?? '' })),
    );
    await expect
      .poll(() => ask(url, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 77"))
      .toEqual([]);
  }
  const clean = { path: '"$user", public', timeout: '0', scratch: null, locks: 0 };
  expect(seen).toEqual(Array.from({ length: 8 }, () => clean));
  expect(pids.size).toBeLessThan(8);
});
