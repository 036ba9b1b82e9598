import type { Retention } from '../engine/retention.js';
import type { LogLevel } from '../ports/logger.js';
import type { Hooks } from '../worker/hooks.js';
import type { CourierOptions } from './http-courier.js';
import type { WorkOptions } from './pawl.js';
import type { DeclaredSchedule } from './schedules.js';
import type { AnyTask } from './task.js';

/** What `pawl.config.ts` says. The environment overrides it, and options of the command line override both. */
export type PawlConfig = {
  /** `sqlite:` and a path, from this file; `postgres://…`; or `memory:`. */
  readonly store?: string;
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
  /** How long finished jobs are kept. For ever, unless told otherwise. */
  readonly retention?: Retention;
  /** Where callbacks may go. */
  readonly callbacks?: CourierOptions;
  readonly hooks?: Hooks;
  /** `warn` without it. */
  readonly logLevel?: LogLevel;
};

/** Gives a config file its types: `export default defineConfig({ … })`. */
export function defineConfig(config: PawlConfig): PawlConfig {
  return config;
}
