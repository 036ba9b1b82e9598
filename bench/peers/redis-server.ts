import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { freePort } from '../../test/postgres-server.js';
import { startServer, type ServerProcess } from './server-process.js';

/** Every write is in the file; the disk is synced once a second, as Redis advises, so that a power cut may cost a second. */
export const REDIS_SETTINGS = 'appendonly yes, appendfsync everysec';

export const redisVersion = (): string =>
  execFileSync('redis-server', ['--version'], { encoding: 'utf8' }).match(/v=\S+/)?.[0] ?? 'unknown';

/** The machine's own Redis server, on a port of its own. */
export async function startRedis(): Promise<ServerProcess & { readonly url: string }> {
  const port = await freePort();
  const server = await startServer({
    command: 'redis-server',
    args: (folder) =>
      `--port ${port} --bind 127.0.0.1 --dir ${folder} --save --appendonly yes --appendfsync everysec`.split(
        ' ',
      ),
    isUp: () =>
      new Promise<void>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.destroy();
          resolve();
        });
        socket.once('error', reject);
      }),
  });
  return { ...server, url: `redis://127.0.0.1:${port}` };
}
