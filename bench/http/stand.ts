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

/** A server as users have it, and beside it a bare route with the same body parsing and the same look-up of the key. */
export type Stand = {
  readonly app: Pawl;
  readonly port: number;
  readonly barePort: number;
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
  const bare = await bareServer(new Doorkeeper(engine, { allowsLocal: false }));
  return {
    app,
    port: Number(new URL(serving.url).port),
    barePort: (bare.address() as AddressInfo).port,
    token,
    async close() {
      await serving.close();
      bare.closeAllConnections();
      await new Promise((resolve) => bare.close(resolve));
      await app.close();
    },
  };
}

function bareServer(doorkeeper: Doorkeeper): Promise<Server> {
  const routes = new Hono().post('/api/v1/jobs', async (context) => {
    const { tenantId } = await doorkeeper.admit(context.req.raw.headers, {
      method: 'POST',
      access: 'operator',
    });
    const { value } = await readBody(context.req.raw);
    const data = { tenant_id: tenantId, job_type: (value as { job_type: string }).job_type };
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
