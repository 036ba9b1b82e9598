import { createServer, type IncomingMessage } from 'node:http';
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
  const answerTo = async ({ url, headers }: Pick<IncomingMessage, 'url' | 'headers'>): Promise<Answer> => {
    switch (url) {
      case '/healthz':
        return json(200, { status: 'ok' });
      case '/readyz':
        return expectReady(engine, isWorking()).then(
          () => json(200, { status: 'ready' }),
          (error: unknown) => json(503, { status: 'not ready', code: codeOf(error) }),
        );
      case '/metrics': {
        const sent = new Headers(headers as Record<string, string>);
        const { tenantId } = await door.admit(sent, { method: 'GET', access: 'viewer' });
        return { status: 200, body: await metrics.text(tenantId), type: METRICS_TYPE };
      }
      default:
        return json(404, { status: 'not found' });
    }
  };
  const server = createServer((request, response) => {
    void answerTo(request)
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
