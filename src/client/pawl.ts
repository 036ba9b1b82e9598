import { PawlError } from '../errors.js';
import { readAlertOptions, type AlertSettings } from '../engine/alerts/alert-options.js';
import { Engine } from '../engine/engine.js';
import * as is from '../engine/option-checks.js';
import { Options } from '../engine/options.js';
import type { Clock } from '../ports/clock.js';
import type { Courier } from '../ports/courier.js';
import type { Logger } from '../ports/logger.js';
import type { Random } from '../ports/random.js';
import type { Store } from '../ports/store.js';
import type { Tracing } from '../ports/tracing.js';
import type { Hooks } from '../worker/hooks.js';
import { Pawl } from './app.js';
import { jsonLogger } from './console-logger.js';
import { httpCourier, type CourierOptions } from './http-courier.js';
import { isSchedule, isTask, isTracing, logger } from './made-things.js';
import { openOptions } from './open-options.js';
import { retentionOf, type RetentionOptions } from './retention-options.js';
import type { DeclaredSchedule } from './schedules.js';
import { systemClock } from './system-clock.js';
import { systemRandom } from './system-random.js';
import type { AnyTask } from './task.js';

export { Pawl };
export type { EffectDecision, Inside, Start, StartWith, WorkOptions } from './app.js';

export type PawlOptions = {
  /** `sqlite:` and a path, `postgres://…`, `memory:`, or a server's `http(s)://…`; or a store that is open already. */
  readonly store: string | Store;
  /** What a server lets this application in with. */
  readonly key?: string;
  readonly tasks?: readonly AnyTask[];
  readonly log?: Logger;
  readonly hooks?: Hooks;
  /** Where executions are traced; see `openTelemetry`. */
  readonly tracing?: Tracing;
  /** Made so at every start; see `schedule()`. */
  readonly schedules?: readonly DeclaredSchedule[];
  /** How long finished jobs are kept. For ever, unless told otherwise. */
  readonly retention?: RetentionOptions;
  /** Where callbacks may go. Never into private networks, unless they are allowed. */
  readonly callbacks?: CourierOptions;
  /** When somebody is to be told that something is wrong; false: never. See docs/operating.md. */
  readonly alerts?: AlertSettings | false;
  /** For tests: where time and chance come from, and who carries callbacks. */
  readonly clock?: Clock;
  readonly random?: Random;
  readonly courier?: Courier;
};

const made =
  (isMade: (value: unknown) => boolean, by: string): is.Check =>
  (value) =>
    value === undefined || isMade(value) ? null : `not made by ${by}`;

const PAWL = new Options<PawlOptions>({
  store: is.elsewhere,
  key: is.text,
  tasks: is.listOf(made(isTask, 'task()'), 'what task() made'),
  log: logger,
  hooks: is.elsewhere,
  tracing: made(isTracing, 'openTelemetry()'),
  schedules: is.listOf(made(isSchedule, 'schedule()'), 'what schedule() made'),
  retention: is.elsewhere,
  callbacks: is.elsewhere,
  alerts: is.elsewhere,
  clock: is.object,
  random: is.object,
  courier: is.object,
});
const HOOKS = new Options<Hooks>({ attemptStarted: is.func, attemptEnded: is.func, lateResult: is.func });
const CALLBACKS = new Options<CourierOptions>({
  allowPrivate: is.flag,
  timeoutMs: is.whole(1),
  clock: is.object,
});

/** Opens Pawl on a store, with the tasks that this process knows. */
export async function pawl(options: PawlOptions): Promise<Pawl> {
  PAWL.expect(options, 'pawl()');
  HOOKS.expect(options.hooks ?? {}, 'pawl()', 'hooks.');
  CALLBACKS.expect(options.callbacks ?? {}, 'pawl()', 'callbacks.');
  const { store, tasks = [], clock = systemClock, random = systemRandom(), alerts: asked = {} } = options;
  expectDistinct(tasks);
  const retention = options.retention ? retentionOf(options.retention) : null;
  const alerts = readAlertOptions(asked);
  const log = options.log ?? jsonLogger({ level: 'warn', write: (line) => process.stderr.write(line) });
  const { store: opened, session } = await openOptions(options, { clock, log });
  const courier = options.courier ?? httpCourier({ allowPrivate: false, ...options.callbacks, clock });
  const engine = new Engine({ store: opened, clock, random, log, courier, alerts });
  const { hooks = {}, tracing = null } = options;
  const storeUrl = typeof store === 'string' && session === null ? store : null;
  const app = new Pawl(engine, { tasks, hooks, tracing, retention, session, storeUrl });
  try {
    // Its first answer sets the clock.
    await engine.subscriptions.refresh();
    for (const declared of options.schedules ?? []) await app.schedules.put(declared);
    return app;
  } catch (error) {
    // Nobody else could let go of what was opened here.
    if (typeof store === 'string') await app.close();
    throw error;
  }
}

function expectDistinct(tasks: readonly AnyTask[]): void {
  const seen = new Set<string>();
  for (const { definition } of tasks) {
    const { name, version } = definition;
    const key = JSON.stringify([name, version]);
    if (seen.has(key)) {
      const versioned = version === null ? '' : ` in version '${version}'`;
      throw new PawlError('TASK_EXISTS', { detail: `task '${name}' is registered twice${versioned}` });
    }
    seen.add(key);
  }
}
