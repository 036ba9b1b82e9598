import { jsonLogger } from '../client/console-logger.js';
import { parseOwnStoreUrl, parseStoreUrl } from '../client/open-store.js';
import { Pawl, pawl } from '../client/pawl.js';
import { withoutPassword } from '../client/without-password.js';
import { PawlError } from '../errors.js';
import { defined } from '../engine/defined.js';
import type { Serving } from '../http/serve.js';
import type { Settings } from './config/settings.js';
import { oneLine, print } from './console.js';
import { serveHealth } from './health-server.js';
import { narrating } from './narrate.js';
import type { Shell } from './shell.js';
import { untilStopped } from './until-stopped.js';
import { withoutPretenuring } from './without-pretenuring.js';

export type Roles = {
  /** Whether it opens the HTTP API, and whether it runs jobs. */
  readonly serves: boolean;
  readonly works: boolean;
  /** Where /healthz and /readyz of a process are that serves nothing else; null: nowhere. */
  readonly health: { readonly host: string; readonly port: number } | null;
  /** Says on standard error what becomes of each job. */
  readonly narrates: boolean;
  /** Ends with the process that started it. */
  readonly untilInputEnds: boolean;
  readonly json: boolean;
  /** Where the states of runs are that it serves; null or not said: beside the jobs. */
  readonly runs?: string | null;
};

/** A server, a worker or both, until a signal ends it: requests and jobs under way get their time to end. */
export async function runProcess(shell: Shell, settings: Settings, roles: Roles): Promise<number> {
  const { console } = shell;
  if (roles.works) withoutPretenuring();
  const watch = untilStopped(roles);
  const log = jsonLogger({ level: settings.logLevel, write: console.err });
  const { store, tasks, schedules, retention, callbacks, alerts, tracing, hooks = {} } = settings;
  let app: Pawl | null = null;
  let serving: Serving | null = null;
  let health: { close(): Promise<void> } | null = null;
  try {
    // What a server does takes more than another server gives.
    if (roles.serves) parseOwnStoreUrl(store);
    app = await pawl({
      store,
      ...keyFor(settings),
      tasks,
      log,
      hooks: roles.narrates ? narrating(console, hooks) : hooks,
      ...defined({ schedules, retention, callbacks, alerts, tracing }),
    });
    // An address that cannot be had is found out before any job is claimed.
    if (roles.serves) {
      // The table of routes takes longer to load than all the rest, and most commands have no use for it.
      const { serve } = await import('../http/serve.js');
      const runs = roles.runs === null ? {} : defined({ runs: roles.runs });
      serving = await serve(app, { ...settings.server, ...runs, defaultTask: settings.defaultTask });
    }
    if (roles.health) {
      const inside = Pawl.inside(app);
      // Before it works, and once it works no more, it is not ready.
      const isWorking = (): boolean => inside.isWorking() ?? false;
      health = await serveHealth({ ...inside, isWorking }, roles.health);
    }
    if (roles.works) await app.work({ ...settings.worker, stopOnSignal: false, onStopped: watch.fail });
    announce(shell, settings, roles, serving);
    const how = await watch.stopped;
    if (how.by === 'error') throw how.error;
    if (!roles.json) console.err('Stopping: what is under way gets its time to end.\n');
    return 0;
  } catch (error) {
    throw namingTheKey(error, settings);
  } finally {
    // No more requests before no more jobs: what the last request started is then at least claimed by somebody else.
    await serving?.close();
    await app?.close();
    await health?.close();
    watch.release();
  }
}

/** Other stores take none, and a key may be in the environment for something else. */
function keyFor({ store, key }: Settings): { readonly key?: string } {
  return key !== undefined && parseStoreUrl(store).kind === 'http' ? { key } : {};
}

/** A server says which header it wants; whoever runs a command cannot send one, but can say the key. */
function namingTheKey(error: unknown, { key }: Settings): unknown {
  if (!(error instanceof PawlError && error.code === 'UNAUTHENTICATED')) return error;
  const detail =
    key === undefined
      ? 'the server takes a key: set PAWL_KEY to one'
      : 'the server does not take the key that is in PAWL_KEY, or else in the config as `key`';
  return new PawlError('UNAUTHENTICATED', { detail, cause: error });
}

function announce(
  { console }: Shell,
  { store, tasks, worker, configFile }: Settings,
  { works, json, health }: Roles,
  serving: Serving | null,
): void {
  const names = [...new Set(tasks.map(({ name }) => name))].toSorted();
  const shownStore = withoutPassword(store);
  const text = [
    ...(serving ? [`Pawl listens on ${serving.url}`] : []),
    ...(serving?.dashboard ? [`open     ${serving.dashboard}`] : []),
    `store    ${shownStore}`,
    ...(configFile === null ? [] : [`config   ${configFile}`]),
    works
      ? `worker   runs ${names.map(oneLine).join(', ')}`
      : 'worker   none here: start one with `pawl worker`',
    ...(worker.queues === undefined || !works ? [] : [`queues   ${worker.queues.map(oneLine).join(', ')}`]),
    ...(health === null ? [] : [`health   http://${health.host}:${health.port}/readyz`]),
  ].join('\n');
  print(console, { json, data: { url: serving?.url ?? null, store: shownStore, works, tasks: names }, text });
}
