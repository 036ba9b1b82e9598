import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Handlers, Step } from '../workloads/system.js';
import { load, type Peer } from './peer.js';

type Context = { run(name: string, run: () => number): Promise<number> };
type Handler = (context: Context, input: string) => Promise<void>;
type Endpoint = {
  bind(service: unknown): Endpoint;
  http2Handler(): Parameters<typeof createServer>[1];
};
type Sdk = {
  service(definition: { name: string; handlers: Record<string, Handler> }): unknown;
  endpoint(): Endpoint;
};
type SendOptions = { readonly opts: unknown };
type Sender = Record<string, (input: string, options?: SendOptions) => Promise<unknown>>;
type Clients = {
  readonly rpc: { sendOpts(options: { delay: number }): SendOptions };
  connect(options: { url: string }): { serviceSendClient(service: { name: string }): Sender };
};

const NAMES = { noop: 'noop', 'five-steps': 'fiveSteps', steps: 'steps' } as const;
const OPEN = `SELECT count(*) AS count FROM sys_invocation WHERE status <> 'completed'`;

export const peer: Peer = {
  name: 'restate',
  packages: ['@restatedev/restate-server', '@restatedev/restate-sdk'],
  settings:
    'sends one by one (it has no bulk); the jobs of a drain are sent before, with a delay that ends for all of them when the time begins',
  on: 'restate',
  share: { 'single-starts': 0.25, 'bulk-starts': 0.1, drain: 0.25, 'five-steps': 0.2 },
  async open(url, handlers) {
    process.env['RESTATE_LOGGING'] = 'ERROR';
    const clients = await load<Clients>('@restatedev/restate-sdk-clients');
    const address = new URL(url);
    const admin = `http://127.0.0.1:${address.hash.slice(1)}`;
    const sender = clients.connect({ url: address.origin }).serviceSendClient({ name: 'bench' });
    let server: Http2Server | null = null;
    return {
      start: (kind, input) => sender[NAMES[kind]]?.(input) ?? Promise.reject(new Error(kind)),
      startLater: (kind, input, delayMs) =>
        sender[NAMES[kind]]?.(input, clients.rpc.sendOpts({ delay: Math.ceil(delayMs) })) ??
        Promise.reject(new Error(kind)),
      async work() {
        server = await serve(handlers);
        const { port } = server.address() as AddressInfo;
        await ask(`${admin}/deployments`, { uri: `http://127.0.0.1:${port}`, force: true });
      },
      async left() {
        const { rows } = (await ask(`${admin}/query`, { query: OPEN })) as { rows: { count: number }[] };
        return rows[0]?.count ?? 0;
      },
      close: async () => void server?.close(),
    };
  },
};

async function serve(handlers: Handlers): Promise<Http2Server> {
  const sdk = await load<Sdk>('@restatedev/restate-sdk');
  const stepOf =
    (context: Context): Step =>
    (name, run) =>
      context.run(name, run);
  const bench = sdk.service({
    name: 'bench',
    handlers: {
      noop: async (_context, input) => handlers.noop(input),
      fiveSteps: (context) => handlers.fiveSteps(stepOf(context)),
      steps: (context, input) => handlers.steps(input, stepOf(context)),
    },
  });
  const server = createServer(sdk.endpoint().bind(bench).http2Handler());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function ask(address: string, body: object): Promise<unknown> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${address}: ${response.status} ${text}`);
  return JSON.parse(text);
}
