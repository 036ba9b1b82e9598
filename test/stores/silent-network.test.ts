import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/client/open-store.js';
import { systemClock } from '../../src/client/system-clock.js';
import { eventually } from '../../src/matrix/eventually.js';
import { TcpProxy } from '../../src/matrix/tcp-proxy.js';
import type { Store } from '../../src/ports/store.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
let proxy: TcpProxy;
let store: Store;
let address: URL;

function openWith(url: URL, silenceMs: number): Promise<Store> {
  url.searchParams.set('silence_ms', String(silenceMs));
  return openStore(url.toString(), { clock: systemClock });
}

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

beforeEach(async () => {
  const url = new URL(await server.createDatabase());
  proxy = new TcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(await proxy.open());
  store = await openWith(url, 200);
  address = url;
});
afterEach(() => proxy.close());

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

const ask = () => store.counts({ tenantId: null });

test.each(['black hole', 'stalled'] as const)(
  'GUA-11 a store behind a network that is a %s says that it cannot be reached, and answers when it can',
  async (state) => {
    await store.close();
    // A busy machine may be silent for a while, too.
    store = await openWith(address, 1_000);
    proxy.become(state);
    await expect(ask()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    await expect(store.begin?.()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    proxy.become('open');
    expect((await ask()).counts).toEqual({});
    await store.close();
  },
);

test('GUA-11 connections that were swallowed do not keep a process from ending', async () => {
  const others = sockets() - 3 * proxy.held;
  const stop = store.listen(() => undefined);
  await ask();
  await eventually(async () => ((await listeners()) > 0 ? true : null), 'it listens');
  proxy.become('black hole');
  await stop();
  await store.close();
  // Two sockets for each connection that the proxy has, and none of ours.
  await eventually(() => (sockets() - others === 2 * proxy.held ? true : null), 'all are closed');
  expect(proxy.held).toBeGreaterThan(1);
});

test('GUA-11 the first silence gives up all connections that were quiet: they are not found out one by one', async () => {
  await store.close();
  store = await openWith(address, 1_500);
  await Promise.all(Array.from({ length: 4 }, ask));
  const quiet = proxy.held;
  expect(quiet).toBeGreaterThan(3);
  proxy.become('black hole');
  proxy.become('open');
  const askedAt = performance.now();
  await ask();
  // One silence; one by one it would be four.
  expect(performance.now() - askedAt).toBeLessThan(4_500);
  await store.close();
});

test('a silence that is none is refused', async () => {
  await store.close();
  const url = `${server.url}?silence_ms=soon`;
  await expect(openStore(url, { clock: systemClock })).rejects.toMatchObject({ code: 'STORE_URL_INVALID' });
});
