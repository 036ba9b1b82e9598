import { expect } from 'vitest';
import { z } from 'zod';
import type { AnyTask } from '../../src/client/task.js';
import { Pawl } from '../../src/client/pawl.js';
import { createKey, type Role } from '../../src/engine/api-keys.js';
import type { Engine } from '../../src/engine/engine.js';
import { Api } from '../../src/http/api.js';
import { Doorkeeper } from '../../src/http/auth.js';
import { WorkerDesk } from '../../src/http/worker-protocol/worker-desk.js';
import { LoopLag } from '../../src/http/loop-lag.js';
import { Metrics } from '../../src/http/metrics.js';
import { FeedHub } from '../../src/http/feed-hub.js';
import type { Backend, Route } from '../../src/http/route.js';
import { RunStatesBeside } from '../../src/http/run-states-beside.js';
import { ROUTES } from '../../src/http/route-table.js';
import { serve, type ServeOptions } from '../../src/http/serve.js';
import { testApp, type TestApp, type TestAppOptions } from '../../src/testkit/index.js';

/** What came back, with its envelope taken apart. */
export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  /** Of a success. */
  readonly data: Record<string, unknown>;
  /** Of an error. */
  readonly error: Record<string, unknown> & { code?: string; details?: Record<string, unknown> };
  readonly body: Record<string, unknown>;
};

export type Call = {
  /** Which of the rig's keys, a token, or null for none. The operator's, unless told otherwise. */
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

const meta = z.strictObject({ trace_id: z.string().min(1), request_id: z.string().min(1) });
const success = z.strictObject({
  success: z.literal(true),
  data: z.unknown(),
  message: z.literal('ok'),
  meta,
});
const failure = z.strictObject({
  success: z.literal(false),
  error: z.looseObject({
    code: z.string().min(1),
    message: z.string().min(1).max(5_000),
    retryable: z.boolean(),
    class: z.enum(['validation', 'business_rule', 'transient', 'permanent', 'security_sensitive']),
  }),
  meta,
});

const patterns = ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`),
  parameters: route.path.split(':').length,
}));

/** The route that a path belongs to. The one with the fewest parameters wins. */
export function routeOf(method: string, path: string): Route | undefined {
  const bare = path.split('?', 1)[0] ?? '';
  return patterns
    .filter(({ route, pattern }) => route.method === method && pattern.test(bare))
    .toSorted((a, b) => a.parameters - b.parameters)[0]?.route;
}

/** Every answer of the API is held against the route table, whoever asked for it (JOB-13). */
export function expectContract(method: string, path: string, status: number, body: unknown): void {
  const where = `${method} ${path} → ${status}`;
  if (status >= 400) {
    expect(failure.safeParse(body).error, where).toBeUndefined();
    return;
  }
  const answer = routeOf(method, path)?.answers[status as 200];
  expect(answer, `${where} is not in the route table`).toBeDefined();
  if (typeof answer === 'string' || answer === undefined) return;
  expect(success.safeParse(body).error, where).toBeUndefined();
  expect(answer.safeParse((body as { data: unknown }).data).error, where).toBeUndefined();
}

export type RigOptions = TestAppOptions & {
  readonly tasks?: readonly AnyTask[];
  /** False: no keys are made, and this machine's user needs none. */
  readonly keys?: boolean;
  readonly defaultTask?: string;
  /** True: a real server on a real socket. */
  readonly served?: boolean;
  /** The folder of the dashboard, if that is served too. */
  readonly dashboard?: string;
};

/** The API in this process, with keys of every role for two tenants. */
export class ApiRig {
  readonly app: TestApp;
  readonly engine: Engine;
  readonly keys: Readonly<Record<string, string>>;
  readonly #door: Door;

  private constructor(app: TestApp, door: Door, keys: Readonly<Record<string, string>>) {
    this.app = app;
    this.engine = Pawl.inside(app.app).engine;
    this.keys = keys;
    this.#door = door;
  }

  static async start(options: RigOptions = {}): Promise<ApiRig> {
    const { keys: withKeys = true, defaultTask = 'default', served = false, dashboard, ...rest } = options;
    const app = await testApp({ work: false, ...rest });
    const keys = withKeys ? await makeKeys(Pawl.inside(app.app).engine) : {};
    const door = served
      ? await openServer(app.app, { defaultTask, dashboard: dashboard ?? false })
      : openApi(app.app, { defaultTask, allowsLocal: !withKeys });
    return new ApiRig(app, door, keys);
  }

  /** Where the server listens; nothing does unless it is `served`. */
  get url(): string {
    return this.#door.url;
  }

  /** The answer as it is, of which the caller reads what it wants. */
  fetch(
    method: string,
    path: string,
    { key = 'operator', body, headers = {} }: Call = {},
  ): Promise<Response> {
    const token = key === null ? null : (this.keys[key] ?? key);
    const sent = new Headers({
      host: '127.0.0.1:7295',
      ...(token === null || Object.keys(this.keys).length === 0 ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    });
    const payload =
      body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    return this.#door.fetch(new Request(`${this.url}${path}`, { method, headers: sent, ...payload }));
  }

  /** A request as it is. */
  send(request: Request): Promise<Response> {
    return this.#door.fetch(request);
  }

  async call(method: string, path: string, call: Call = {}): Promise<Reply> {
    const response = await this.fetch(method, path, call);
    const body = (await response.json()) as Record<string, unknown>;
    const { status, headers } = response;
    expectContract(method, path, status, body);
    return {
      status,
      headers,
      body,
      data: (body['data'] ?? {}) as Reply['data'],
      error: (body['error'] ?? {}) as Reply['error'],
    };
  }

  get(path: string, call: Call = {}): Promise<Reply> {
    return this.call('GET', path, call);
  }

  post(path: string, body: unknown = {}, call: Call = {}): Promise<Reply> {
    return this.call('POST', path, { ...call, body });
  }

  /** Drill: `run`, with what the drill needs. */
  drill(jobId: string, query = '', call: Call = {}): Promise<Reply> {
    const headers = { 'x-internal-debug': 'true' };
    return this.call('POST', `/api/v1/internal/jobs/${jobId}/run${query}`, {
      key: 'admin',
      headers,
      ...call,
    });
  }

  /** How many connections it has ended by itself; not counted where there are real ones. */
  get hangUps(): number {
    return this.#door.hangUps();
  }

  /** How many streams listen; only known of an API without a server. */
  get listeners(): number {
    return this.#door.listeners();
  }

  async stop(): Promise<void> {
    await this.app.run(this.#door.close());
    await this.app.idle();
    if (this.listeners > 0) throw new Error(`${this.listeners} streams still listen`);
    await this.app.stop();
  }
}

type Door = {
  readonly url: string;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly listeners: () => number;
  /** How many connections it has ended by itself; not counted where there are real ones. */
  readonly hangUps: () => number;
  readonly close: () => Promise<void>;
};

async function openServer(
  app: Pawl,
  options: Pick<ServeOptions, 'defaultTask' | 'dashboard'>,
): Promise<Door> {
  const serving = await serve(app, { port: 0, ...options });
  const close = () => serving.close();
  return {
    url: serving.url,
    close,
    fetch: (request) => fetch(request),
    listeners: () => 0,
    hangUps: () => 0,
  };
}

function openApi(app: Pawl, options: { defaultTask: string; allowsLocal: boolean }): Door {
  const { engine, tasks, isWorking } = Pawl.inside(app);
  const doorkeeper = new Doorkeeper(engine, options);
  const closing = new AbortController();
  const feed = new FeedHub(engine);
  const backend: Backend = {
    engine,
    tasks: new Map(tasks.map((task) => [task.name, task])),
    defaultTask: options.defaultTask,
    feed,
    metrics: new Metrics(engine, { lag: new LoopLag(), streams: () => feed.listeners }),
    desk: new WorkerDesk(engine, { seesToUpkeep: () => false, retention: null }),
    door: doorkeeper,
    runs: new RunStatesBeside(engine, null),
    isWorking,
    closing: closing.signal,
  };
  const api = new Api(backend, ROUTES);
  let hangUps = 0;
  return {
    url: 'http://127.0.0.1:7295',
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      const socket = { destroy: () => (hangUps += 1) } as never;
      return api.fetch(request, { method: request.method, url: pathname + search, socket });
    },
    listeners: () => feed.listeners,
    hangUps: () => hangUps,
    close: async () => closing.abort(),
  };
}

async function makeKeys(engine: Engine): Promise<Record<string, string>> {
  const make = async (tenantId: string, role: Role) =>
    (await createKey(engine, { tenantId, role, name: `${tenantId} ${role}`, by: 'operator:test' })).token;
  return {
    viewer: await make('default', 'viewer'),
    operator: await make('default', 'operator'),
    colleague: await make('default', 'operator'),
    admin: await make('default', 'admin'),
    otherViewer: await make('acme', 'viewer'),
    other: await make('acme', 'operator'),
    otherAdmin: await make('acme', 'admin'),
  };
}
