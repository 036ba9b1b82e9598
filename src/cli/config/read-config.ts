import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import type { PawlConfig } from '../../client/define-config.js';
import { readAlertOptions } from '../../engine/alerts/alert-options.js';
import { shown } from '../../engine/options.js';
import { ERRORS, PawlError } from '../../errors.js';
import { didYouMean } from '../../engine/did-you-mean.js';
import { configSchema } from './config-schema.js';
import { loadModule } from './load-module.js';

/** In the order in which they are looked for. */
export const CONFIG_NAMES = [
  'pawl.config.ts',
  'pawl.config.mts',
  'pawl.config.js',
  'pawl.config.mjs',
] as const;

export type ConfigFile = {
  readonly config: PawlConfig;
  /** Null: there is none. */
  readonly path: string | null;
  /** What file names in it start from. */
  readonly folder: string;
};

/** The config file that was named, or the one in this folder, if there is one. */
export async function readConfig(named: string | undefined, cwd: string): Promise<ConfigFile> {
  const path = findConfig(named, cwd);
  if (path === null) return { config: {}, path, folder: cwd };
  const module = await loadModule(path);
  if (module['default'] === undefined) {
    throw invalid(path, 'default', 'it has no default export: export default defineConfig({ … })');
  }
  return { config: checkConfig(path, module['default']), path, folder: dirname(path) };
}

/** Null: there is none, and none was asked for. */
export function findConfig(named: string | undefined, cwd: string): string | null {
  if (named === undefined) {
    return CONFIG_NAMES.map((name) => join(cwd, name)).find((path) => existsSync(path)) ?? null;
  }
  const path = resolve(cwd, named);
  if (existsSync(path)) return path;
  throw new PawlError('FILE_UNREADABLE', { detail: `there is no file ${path}`, details: { file: path } });
}

/** Throws CONFIG_INVALID, with the file and the field, for what is not a config. */
export function checkConfig(path: string, value: unknown): PawlConfig {
  const wrong = problemIn(value);
  if (wrong !== null) throw invalid(path, wrong.field, wrong.problem);
  // What was given, not a copy of it: tasks and hooks are more than their checked parts.
  const config = value as PawlConfig;
  expectAlerts(path, config);
  return config;
}

/** Names were checked before; what the values may be is known to whoever evaluates alerts. */
function expectAlerts(path: string, { alerts = {} }: PawlConfig): void {
  try {
    readAlertOptions(alerts);
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    const field = String(error.details['option']);
    const problem = error.message.slice(field.length + 1, -`. ${ERRORS[error.code].advice}`.length);
    throw invalid(path, field, problem);
  }
}

export type Problem = { readonly field: string; readonly problem: string };

/** The first thing that is wrong with the settings of a config, wherever they come from. */
export function problemIn(value: unknown): Problem | null {
  const [issue] = configSchema.safeParse(value).error?.issues ?? [];
  return issue === undefined ? null : problemOf(issue, value);
}

function problemOf(issue: z.core.$ZodIssue, value: unknown): Problem {
  const at = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const suggestion = didYouMean(key, keysAt(at));
    return { field: [...at, key].join('.'), problem: `there is no such setting${suggestion}` };
  }
  const field = at.join('.');
  if (issue.code === 'custom') return { field, problem: `${shown(valueAt(value, at))} ${issue.message}` };
  return {
    field: field || 'default',
    problem: `${shown(valueAt(value, at))} does not fit: ${issue.message}`,
  };
}

/** The settings that there are at a place of the config. */
function keysAt(path: readonly string[]): string[] {
  let schema: unknown = configSchema;
  for (const key of path) {
    const members = shapeOf(schema);
    schema = members?.[key] ?? (unwrapped(schema) as { element?: unknown }).element;
  }
  return Object.keys(shapeOf(schema) ?? {});
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  return (unwrapped(schema) as { shape?: Record<string, unknown> }).shape;
}

/** Without what makes it optional, or takes `false` for it. */
function unwrapped(schema: unknown): object {
  const inner = (schema as { unwrap?: () => unknown } | undefined)?.unwrap?.() ?? schema ?? {};
  return (inner as { out?: object }).out ?? inner;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Readonly<Record<string, unknown>> | undefined)?.[key],
    value,
  );
}

function invalid(file: string, field: string, problem: string): PawlError {
  return new PawlError('CONFIG_INVALID', {
    detail: `${file}: ${field}: ${problem}`,
    details: { file, field },
  });
}
