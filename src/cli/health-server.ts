import { createServer } from 'node:http';
import type { Inside } from '../client/pawl.js';
import { PawlError } from '../errors.js';
import { expectReady } from '../http/readiness.js';

/** Says whether a process without an API is alive, and whether it can work; nothing else, so it takes no keys. */
export async function serveHealth(
  { engine, isWorking }: Inside,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.url === '/healthz') return answer(200, { status: 'ok' });
    if (request.url !== '/readyz') return answer(404, { status: 'not found' });
    expectReady(engine, isWorking()).then(
      () => answer(200, { status: 'ready' }),
      (error: unknown) =>
        answer(503, { status: 'not ready', code: error instanceof PawlError ? error.code : 'INTERNAL' }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const detail = `cannot listen on ${host}:${port} (${cause.code ?? cause.message})`;
      reject(new PawlError('ADDRESS_UNUSABLE', { detail, cause }));
    });
    server.listen(port, host, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
