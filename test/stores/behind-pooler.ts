import { connect, createServer, type AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** The address of a proxy that tells whoever connects of another process than the server's, as poolers do. */
export async function behindPooler(url: string): Promise<string> {
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
