import type { Check } from '../engine/option-checks.js';
import { invalidOption, shown } from '../engine/options.js';
import { LOG_LEVELS } from '../ports/logger.js';
import type { DeclaredSchedule } from './schedules.js';
import type { AnyTask } from './task.js';

/** By what it has, here and below: it may come from another copy of the package. */
export function isTask(value: unknown): value is AnyTask {
  const { definition } = membersOf(value);
  const { name, run } = membersOf(definition);
  return typeof name === 'string' && typeof run === 'function';
}

export function isSchedule(value: unknown): value is DeclaredSchedule {
  const { task, declaration } = membersOf(value);
  return isTask(task) && typeof membersOf(declaration)['id'] === 'string';
}

export function isTracing(value: unknown): boolean {
  const { origin, execution } = membersOf(value);
  return typeof origin === 'function' && typeof execution === 'function';
}

/** An option that takes a logger: an object with a method for each level, or a function that has them. */
export const logger: Check = (value) => {
  const methods = value as Readonly<Record<string, unknown>> | null | undefined;
  if (value === undefined || LOG_LEVELS.every((level) => typeof methods?.[level] === 'function')) return null;
  return `no logger with ${LOG_LEVELS.join(', ')}`;
};

export function expectTask(value: unknown, whose: string): void {
  if (isTask(value)) return;
  throw invalidOption('task', `the task of ${whose} is ${shown(value)}, and was not made by task()`);
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
