import { createServer } from 'node:http';
import type { Inside } from '../client/pawl.js';
import { PawlError } from '../errors.js';
import { Doorkeeper, isLoopback } from '../http/auth.js';
import { ERROR_STATUS } from '../http/error-status.js';
import { LoopLag } from '../http/loop-lag.js';
import { Metrics, METRICS_TYPE } from '../http/metrics.js';
import { expectReady } from '../http/readiness.js';

type Answer = { readonly status: number; readonly body: string; readonly type: string };

/**
 * Says whether a process without an API is alive, and whether it can work, which takes no key; and what it has counted, which takes
 * the same as a server's `/metrics`.
 */
export async function serveHealth(
  { engine, isWorking }: Inside,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ close(): Promise<void> }> {
  const lag = new LoopLag();
  lag.start();
  const metrics = new Metrics(engine, { lag, streams: null });
  const door = new Doorkeeper(engine, { allowsLocal: isLoopback(host) });
  const answers: Readonly<Record<string, (headers: Headers) => Promise<Answer>>> = {
    '/healthz': async () => json(200, { status: 'ok' }),
    '/readyz': () =>
      expectReady(engine, isWorking()).then(
        () => json(200, { status: 'ready' }),
        (error: unknown) => json(503, { status: 'not ready', code: codeOf(error) }),
      ),
    '/metrics': async (headers) => {
      const { tenantId } = await door.admit(headers, { method: 'GET', access: 'viewer' });
      return { status: 200, body: await metrics.text(tenantId), type: METRICS_TYPE };
    },
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''] ?? (async () => json(404, { status: 'not found' }));
    const headers = new Headers(request.headers as Record<string, string>);
    void answer(headers)
      .catch((error: unknown) =>
        json(ERROR_STATUS[codeOf(error)], { status: 'refused', code: codeOf(error) }),
      )
      .then(({ status, body, type }) => response.writeHead(status, { 'content-type': type }).end(body));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const detail = `cannot listen on ${host}:${port} (${cause.code ?? cause.message})`;
      reject(new PawlError('ADDRESS_UNUSABLE', { detail, cause }));
    });
    server.listen(port, host, resolve);
  });
  return {
    close: () => {
      lag.stop();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

const json = (status: number, body: object): Answer => ({
  status,
  body: JSON.stringify(body),
  type: 'application/json',
});

const codeOf = (error: unknown) => (error instanceof PawlError ? error.code : 'INTERNAL');
