import { connect, type Socket } from 'node:net';
import { noop, type Stand } from './stand.js';

const IDLE_MS = 5_000;
const LISTENERS = 1_000;
const JOBS = 10;

/** How much of a processor this process takes while nobody asks anything, in per cent. */
export async function idleShare(): Promise<number> {
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1_000 / IDLE_MS) * 100;
}

/** A thousand readers of the event stream, while jobs are started. */
export async function listeners({ app, port, token }: Stand): Promise<{
  opened: number;
  heardAll: number;
  slowestMs: number;
  heapBytes: number;
}> {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const heard = Array.from({ length: LISTENERS }, () => 0);
  const sockets = await Promise.all(heard.map((_none, index) => listen(index)));
  globalThis.gc?.();
  const heapBytes = process.memoryUsage().heapUsed - before;
  const from = performance.now();
  for (let n = 0; n < JOBS; n++) await app.start(noop, n);
  let waited = 0;
  while (heard.some((count) => count < JOBS) && waited++ < 2_000)
    await new Promise((resolve) => setTimeout(resolve, 5));
  const slowestMs = performance.now() - from;
  for (const socket of sockets) socket.destroy();
  return {
    opened: sockets.length,
    heardAll: heard.filter((count) => count === JOBS).length,
    slowestMs,
    heapBytes,
  };

  function listen(index: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `GET /api/v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`,
        );
      });
      socket.on('error', reject);
      socket.on('data', (part) => {
        const text = part.toString('latin1');
        if (text.includes('\nid: ') || text.includes('id: ')) resolve(socket);
        heard[index] = (heard[index] ?? 0) + (text.match(/event: job\.created/g)?.length ?? 0);
      });
    });
  }
}
