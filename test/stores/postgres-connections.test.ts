import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Connections } from '../../src/stores/postgres/connections.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';

/** The address of a proxy that tells whoever connects of another process than the server's, as poolers do. */
async function behindPooler(url: string): Promise<string> {
  const { port, hostname } = new URL(url);
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    server.on('data', (bytes) => client.write(withOtherProcess(bytes)));
    client.on('data', (bytes) => server.write(bytes));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return url.replace(`${hostname}:${port}`, `127.0.0.1:${(proxy.address() as AddressInfo).port}`);
}

/** `K`, twelve bytes, is where the server tells of its process. */
function withOtherProcess(bytes: Buffer): Buffer {
  const at = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
  if (at >= 0) bytes.writeInt32BE(bytes.readInt32BE(at + 5) + 1, at + 5);
  return bytes;
}

async function onConnection(server: PostgresServer, { pooler }: { pooler: boolean }) {
  const url = await server.createDatabase();
  const connections = new Connections({
    url: pooler ? await behindPooler(url) : url,
    max: 1,
    silenceMs: 10_000,
    isKeyed: true,
  });
  const client = await connections.connect();
  onTestFinished(async () => {
    client.release();
    await connections.close();
  });
  const setting = async (): Promise<unknown> => (await client.query('SHOW plan_cache_mode')).rows[0];
  return { setting, begin: connections.beginOf(client), client, isSettled: connections.isSettled(client) };
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
