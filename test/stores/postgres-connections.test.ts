import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Connections } from '../../src/stores/postgres/connections.js';
import { Session } from '../../src/stores/postgres/session.js';
import { fakeClock, type FakeClock } from '../../src/testkit/fake-clock.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { behindPooler } from './behind-pooler.js';

type Options = { readonly pooler?: boolean; readonly max?: number; readonly clock?: FakeClock | null };

async function connectionsTo(server: PostgresServer, { pooler = false, max = 1, clock = null }: Options) {
  const url = await server.createDatabase();
  const address = pooler ? await behindPooler(url) : url;
  const connections = new Connections({ url: address, max, silenceMs: 10_000, isKeyed: true, clock });
  onTestFinished(() => connections.close());
  return { url, connections };
}

async function onConnection(server: PostgresServer, { pooler }: { pooler: boolean }) {
  const { connections } = await connectionsTo(server, { pooler });
  const client = await connections.connect();
  onTestFinished(() => connections.release(client, false));
  const setting = async (): Promise<unknown> => (await client.query('SHOW plan_cache_mode')).rows[0];
  const isSettled = !connections.needsSettings(client);
  return { setting, begin: connections.beginOf(client), client, isSettled };
}

async function processOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

test('a connection to the server itself keeps its settings; one behind a pooler has them within a transaction only', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const direct = await onConnection(server, { pooler: false });
  expect([direct.isSettled, direct.begin]).toEqual([true, 'BEGIN']);
  expect(await direct.setting()).toEqual({ plan_cache_mode: 'force_generic_plan' });

  const pooled = await onConnection(server, { pooler: true });
  expect(pooled.isSettled).toBe(false);
  expect(await pooled.setting()).toEqual({ plan_cache_mode: 'auto' });
  await pooled.client.query(pooled.begin);
  expect(await pooled.setting()).toEqual({ plan_cache_mode: 'force_generic_plan' });
  await pooled.client.query('COMMIT');
  expect(await pooled.setting()).toEqual({ plan_cache_mode: 'auto' });
});

test('a connection that was released is used again at once, or goes to whoever waits for one', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const { connections } = await connectionsTo(server, {});
  const first = await connections.connect();
  connections.release(first, false);
  expect(connections.connect()).toBe(first);
  const waiting = connections.connect();
  expect(waiting).toBeInstanceOf(Promise);
  connections.release(first, false);
  const second = await waiting;
  expect(second).toBe(first);
  connections.release(second, true);
  const third = await connections.connect();
  expect(third).not.toBe(first);
  connections.release(third, false);
});

test('a connection that breaks while nobody uses it is not handed out', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const { url, connections } = await connectionsTo(server, {});
  const client = await connections.connect();
  const broken = await processOf(client);
  const gone = new Promise((resolve) => client.once('end', resolve));
  connections.release(client, false);
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query('SELECT pg_terminate_backend($1)', [broken]);
  await gone;
  const next = await connections.connect();
  expect(await processOf(next)).not.toBe(broken);
  connections.release(next, false);
  await other.end();
});

test('connections that nobody uses are closed after a while, and those in use are not', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const clock = fakeClock(0);
  const { url, connections } = await connectionsTo(server, { max: 3, clock });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  const open = async (): Promise<number> => {
    const { rows } = await other.query<{ open: number }>(
      "SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pawl'",
    );
    return rows[0]?.open ?? 0;
  };
  const clients = await Promise.all([1, 2, 3].map(async () => connections.connect()));
  const [busy] = clients;
  for (const client of clients.slice(1)) connections.release(client, false);
  clock.advance(10_000);
  expect(await open()).toBe(3);
  clock.advance(10_000);
  await vi.waitFor(async () => expect(await open()).toBe(1), { timeout: 200_000 });
  expect(await processOf(busy as pg.ClientBase)).toBeGreaterThan(0);
  connections.release(busy as pg.PoolClient, false);
  clock.advance(20_000);
  await vi.waitFor(async () => expect(await open()).toBe(0), { timeout: 200_000 });
  await other.end();
});

test('hours that a test lets pass close no connection', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const clock = fakeClock(0);
  const session = new Session({ url: await server.createDatabase(), clock, now: () => clock.now() });
  onTestFinished(() => session.close());
  const answering = () => session.single.rows('SELECT pg_backend_pid() AS pid');
  const before = await answering();
  clock.advance(3_600_000);
  expect(await answering()).toEqual(before);
});
