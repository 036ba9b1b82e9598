import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { setMaxListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pawl } from '../client/pawl.js';
import { atMost } from '../engine/at-most.js';
import { Bell } from '../engine/bell.js';
import { repeat } from '../engine/repeat.js';
import { PawlError } from '../errors.js';
import type { RunStateStore } from '../ports/run-state-store.js';
import type { TaskDefinition } from '../worker/task-definition.js';
import { Api } from './api.js';
import { Doorkeeper, isLoopback } from './auth.js';
import { Dashboard, DASHBOARD_PATH } from './dashboard.js';
import { FeedHub } from './feed-hub.js';
import { forgetOldAnswers } from './first-answers.js';
import { LoopLag } from './loop-lag.js';
import { Metrics } from './metrics.js';
import { RunStatesBeside } from './run-states-beside.js';
import { ROUTES } from './route-table.js';
import { WorkerDesk } from './worker-protocol/worker-desk.js';

export type ServeOptions = {
  /** 127.0.0.1 without it. Any other takes keys. */
  readonly host?: string;
  /** 7295 without it; 0 takes whichever is free. */
  readonly port?: number;
  /** What a scheduled task runs when it names no `job_type`. */
  readonly defaultTask?: string;
  /** The folder of the browser app; the one that was built with this code without it. False: none is served. */
  readonly dashboard?: string | false;
  /** False: somebody else sees to recovery, timers and mail for remote workers. Otherwise a server without a worker does. */
  readonly upkeep?: boolean;
  /** Where the states of runs are kept that are tracked: beside the jobs, unless said otherwise. */
  readonly runs?: string | RunStateStore;
};

export type Serving = {
  readonly url: string;
  /** Where the dashboard is; null if none is served. */
  readonly dashboard: string | null;
  /** Takes no more requests, ends the streams, and waits for what is under way. */
  close(): Promise<void>;
};

export const DEFAULT_PORT = 7295;
const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_TASK = 'default';
const HOUR_MS = 3_600_000;
/** Connections that wait to be taken up. With the usual 511, a thousand readers that come back at once are turned away. */
const MOST_KNOCKING = 4_096;
/** What has not been answered by then is cut off. */
const DRAIN_MS = 5_000;

/** Opens an application to HTTP. */
export async function serve(app: Pawl, options: ServeOptions = {}): Promise<Serving> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, defaultTask = DEFAULT_TASK, upkeep = true } = options;
  const { engine, tasks, isWorking, retention, storeUrl } = Pawl.inside(app);
  const allowsLocal = isLoopback(host);
  const doorkeeper = new Doorkeeper(engine, { allowsLocal });
  if (!allowsLocal && !(await doorkeeper.hasValidKeys())) {
    throw new PawlError('KEYS_REQUIRED', {
      detail: `there is no valid key, and ${host} can be reached from elsewhere`,
    });
  }
  const closing = new AbortController();
  // Every stream listens to it.
  setMaxListeners(0, closing.signal);
  const feed = new FeedHub(engine);
  const lag = new LoopLag();
  lag.start();
  const seesToUpkeep = () => upkeep && isWorking() === null;
  const desk = new WorkerDesk(engine, { seesToUpkeep, retention });
  const runs = new RunStatesBeside(engine, options.runs ?? storeUrl);
  const backend = {
    engine,
    tasks: byName(tasks),
    defaultTask,
    feed,
    metrics: new Metrics(engine, { lag, streams: () => feed.listeners }),
    desk,
    door: doorkeeper,
    runs,
    isWorking,
    closing: closing.signal,
  };
  const api = new Api(backend, ROUTES);
  const dashboard = options.dashboard === false ? null : await Dashboard.read(options.dashboard);
  const server = await open({ api, dashboard }, { host, port });
  const sweep = repeat(engine, {
    name: 'the sweep of old answers',
    bell: new Bell(engine.alarms),
    everyMs: HOUR_MS,
    pass: () => forgetOldAnswers(engine).then(() => false),
  });
  const { port: actual } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${actual}`;
  return {
    url,
    dashboard: dashboard && url + DASHBOARD_PATH,
    async close() {
      closing.abort();
      lag.stop();
      // A store that does not answer must not keep a process from ending.
      const swept = sweep.stop();
      await shut(server, engine);
      await atMost(engine.alarms, DRAIN_MS, Promise.all([swept, desk.close(), runs.close()]));
    },
  };
}

function byName(tasks: readonly TaskDefinition[]): ReadonlyMap<string, TaskDefinition> {
  return new Map(tasks.map((task) => [task.name, task]));
}

function open(
  { api, dashboard }: { api: Api; dashboard: Dashboard | null },
  { host, port }: { host: string; port: number },
): Promise<Server> {
  const answer = (request: Request, { incoming }: HttpBindings) =>
    dashboard?.answer(incoming) ?? api.fetch(request, incoming);
  return new Promise((resolve, reject) => {
    const hear = getRequestListener((request, env) => answer(request, env as HttpBindings), {
      hostname: host,
      errorHandler: (error) => api.refuse(error),
    });
    const server = createServer((incoming, outgoing) => void hear(incoming, outgoing));
    server.listen({ port, host, backlog: MOST_KNOCKING }, () => resolve(server));
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const detail = `cannot listen on ${host}:${port} (${cause.code ?? cause.message})`;
      reject(new PawlError('ADDRESS_UNUSABLE', { detail, cause }));
    });
  });
}

function shut(server: Server, { alarms }: ReturnType<typeof Pawl.inside>['engine']): Promise<void> {
  return new Promise((resolve) => {
    const cancel = alarms.set(DRAIN_MS, () => server.closeAllConnections());
    server.close(() => {
      cancel();
      resolve();
    });
    server.closeIdleConnections();
  });
}
