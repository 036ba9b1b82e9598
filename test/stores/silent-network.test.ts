import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/client/open-store.js';
import { systemClock } from '../../src/client/system-clock.js';
import { PawlError } from '../../src/errors.js';
import { eventually } from '../../src/matrix/eventually.js';
import { TcpProxy } from '../../src/matrix/tcp-proxy.js';
import type { Store } from '../../src/ports/store.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { LossyWay } from './lossy-way.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** The address of a new database behind a proxy. */
async function behindProxy(): Promise<{ proxy: TcpProxy; address: string }> {
  const url = new URL(await server.createDatabase());
  const proxy = new TcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(await proxy.open());
  onTestFinished(() => proxy.close());
  return { proxy, address: url.toString() };
}

/** A busy machine may be as silent as a network that swallows everything: what it has kept from being answered is asked again. */
function answered<T>(work: () => Promise<T>): Promise<T> {
  return eventually(
    () =>
      work().catch((error: unknown) => {
        if (error instanceof PawlError && error.code === 'STORE_UNAVAILABLE') return null;
        throw error;
      }),
    'the store has answered',
  );
}

const opened = (address: string, silenceMs: number): Promise<Store> =>
  answered(() => openStore(`${address}?silence_ms=${silenceMs}`, { clock: systemClock }));

/** In this process, where both sides of the proxy are, too. */
const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

async function listeners(): Promise<number> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rowCount } = await client.query(
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'pawl listener' AND query LIKE 'LISTEN%'",
  );
  await client.end();
  return rowCount ?? 0;
}

const ask = (store: Store) => store.counts({ tenantId: null });

test.each(['black hole', 'stalled'] as const)(
  'GUA-11 a store behind a network that is a %s says that it cannot be reached, and answers when it can',
  async (state) => {
    const { proxy, address } = await behindProxy();
    const store = await opened(address, 500);
    proxy.become(state);
    await expect(ask(store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    await expect(store.begin?.()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    proxy.become('open');
    expect((await answered(() => ask(store))).counts).toEqual({});
    await store.close();
  },
);

test('GUA-11 connections that were swallowed do not keep a process from ending', async () => {
  const { proxy, address } = await behindProxy();
  await eventually(() => (sockets() === 0 ? true : null), 'what others had is closed');
  // Far longer than this may take: nobody waits for an answer here.
  const store = await opened(address, 60_000);
  const stop = store.listen(() => undefined);
  await ask(store);
  await eventually(async () => ((await listeners()) > 0 ? true : null), 'it listens');
  proxy.become('black hole');
  await stop();
  await store.close();
  // Two sockets for each connection that the proxy has, and none of ours.
  await eventually(() => (sockets() === 2 * proxy.held ? true : null), 'all are closed', {
    withinMs: 30_000,
  });
  expect(proxy.held).toBeGreaterThan(1);
});

test('GUA-11 the first silence gives up all connections that were quiet: they are not found out one by one', async () => {
  const way = await LossyWay.to(await server.createDatabase());
  const store = await opened(way.url, 500);
  await answered(() => Promise.all(Array.from({ length: 4 }, () => ask(store))));
  expect(way.lose()).toBeGreaterThan(3);
  await answered(() => ask(store));
  expect(way.askedInVain).toBe(1);
  await store.close();
});

test('a silence that is none is refused', async () => {
  const url = `${server.url}?silence_ms=soon`;
  await expect(openStore(url, { clock: systemClock })).rejects.toMatchObject({ code: 'STORE_URL_INVALID' });
});
