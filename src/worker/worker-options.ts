import type { PawlError } from '../errors.js';
import type { Retention } from '../engine/retention.js';
import type { Tracing } from '../ports/tracing.js';
import type { Hooks } from './hooks.js';
import type { TaskDefinition } from './task-definition.js';

export type WorkerOptions = {
  readonly tasks: readonly TaskDefinition[];
  readonly workerId: string | null;
  /** What its name must begin with, where names are given out. */
  readonly namedUnder?: string;
  /** False: somebody else sees to recovery, timers, mail, schedules and retention. */
  readonly upkeep?: boolean;
  /** How many jobs run at once. */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** How often work is looked for that nobody told of. */
  readonly pollMs: number;
  /** Which queues to work on; null: those of the tasks. */
  readonly queues: readonly string[] | null;
  readonly hooks: Hooks;
  readonly tracing: Tracing | null;
  readonly retention: Retention | null;
  /** Called when the worker must stop by itself. */
  readonly onStopped: (error: PawlError) => void;
};
