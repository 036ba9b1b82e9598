import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createKey } from '../../src/engine/api-keys.js';
import { Doorkeeper } from '../../src/http/auth.js';
import { readBody } from '../../src/http/read-body.js';
import { serve, type Serving } from '../../src/http/serve.js';
import { Pawl, pawl, task } from '../../src/index.js';
import type { Load } from './client.js';

export const noop = task({ name: 'noop' }, () => null);

/**
 * A server as users have it, and beside it two bare routes with the same body parsing and the same look-up of the key: one
 * that does nothing more, and one that starts the job as an application would.
 */
export type Stand = {
  readonly app: Pawl;
  readonly port: number;
  readonly barePort: number;
  readonly startingPort: number;
  readonly token: string;
  close(): Promise<void>;
};

export async function stand(store: string): Promise<Stand> {
  const app = await pawl({ store, tasks: [noop], log: quiet });
  const { engine } = Pawl.inside(app);
  const { token } = await createKey(engine, {
    tenantId: 'default',
    role: 'operator',
    name: 'bench',
    by: 'bench',
  });
  const serving: Serving = await serve(app, { port: 0 });
  const doorkeeper = new Doorkeeper(engine, { allowsLocal: false });
  const bare = await bareServer(doorkeeper, () => Promise.resolve({}));
  const starting = await bareServer(doorkeeper, async ({ payload }) => {
    const { job } = await app.start(noop, payload);
    return { job_id: job.id };
  });
  return {
    app,
    port: Number(new URL(serving.url).port),
    barePort: (bare.address() as AddressInfo).port,
    startingPort: (starting.address() as AddressInfo).port,
    token,
    async close() {
      await serving.close();
      for (const server of [bare, starting]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      await app.close();
    },
  };
}

type Asked = { readonly job_type: string; readonly payload: unknown };

function bareServer(doorkeeper: Doorkeeper, handle: (asked: Asked) => Promise<object>): Promise<Server> {
  const routes = new Hono().post('/api/v1/jobs', async (context) => {
    const { tenantId } = await doorkeeper.admit(context.req.raw.headers, {
      method: 'POST',
      access: 'operator',
    });
    const { value } = await readBody(context.req.raw);
    const asked = value as Asked;
    const data = { tenant_id: tenantId, job_type: asked.job_type, ...(await handle(asked)) };
    return context.json({ success: true, data, message: 'ok' }, 201);
  });
  const hear = getRequestListener(routes.fetch);
  const server = createServer((incoming, outgoing) => void hear(incoming, outgoing));
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const nothing = () => undefined;
const quiet = { debug: nothing, info: nothing, warn: nothing, error: console.error };

export function headOf(path: string, token: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n`;
}

/** Requests answered in a second. */
export async function load(asked: Load): Promise<number> {
  const script = fileURLToPath(new URL('client.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(asked)]);
  const { perSecond, refused } = JSON.parse(stdout) as { perSecond: number; refused: number };
  if (refused > 0) throw new Error(`${refused} requests were refused`);
  return perSecond;
}
