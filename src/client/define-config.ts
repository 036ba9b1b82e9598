import type { AlertSettings } from '../engine/alerts/alert-options.js';
import type { LogLevel } from '../ports/logger.js';
import type { Tracing } from '../ports/tracing.js';
import type { Hooks } from '../worker/hooks.js';
import type { CourierOptions } from './http-courier.js';
import type { WorkOptions } from './pawl.js';
import type { RetentionOptions } from './retention-options.js';
import type { DeclaredSchedule } from './schedules.js';
import type { AnyTask } from './task.js';

/** What `pawl.config.ts` says. The environment overrides it, and options of the command line override both. */
export type PawlConfig = {
  /** `sqlite:` and a path, from this file; `postgres://…`; or `memory:`. For a worker also a server's `http(s)://…`. */
  readonly store?: string;
  /** What that server lets the worker in with. Better in the environment (`PAWL_KEY`), unless this file is kept secret. */
  readonly key?: string;
  /** Tasks; or files that export them, from this file, with `*` and `**` for any name and any folders. */
  readonly tasks?: readonly (AnyTask | string)[];
  /** Made so at every start; see `schedule()`. */
  readonly schedules?: readonly DeclaredSchedule[];
  /** What a scheduled task runs when it names no `job_type`. `default`, a task that ships, without it. */
  readonly defaultTask?: string;
  readonly server?: {
    /** 127.0.0.1 without it. Any other takes keys. */
    readonly host?: string;
    /** 7295 without it. */
    readonly port?: number;
  };
  readonly worker?: Omit<WorkOptions, 'stopOnSignal' | 'onStopped'>;
  /** How long finished jobs are kept. For ever, unless told otherwise. A folder for evidence is named from this file. */
  readonly retention?: RetentionOptions;
  /** Where callbacks may go. */
  readonly callbacks?: CourierOptions;
  readonly hooks?: Hooks;
  /** When somebody is to be told that something is wrong; false: never. The same in every process. */
  readonly alerts?: AlertSettings | false;
  /** Where executions are traced; see `openTelemetry`. */
  readonly tracing?: Tracing;
  /** `warn` without it. */
  readonly logLevel?: LogLevel;
};

/** Gives a config file its types: `export default defineConfig({ … })`. */
export function defineConfig(config: PawlConfig): PawlConfig {
  return config;
}
