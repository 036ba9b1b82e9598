import { isAbsolute, join, resolve } from 'node:path';
import type { PawlConfig } from '../../client/define-config.js';
import { DEFAULT_TASK } from '../../client/default-task.js';
import { IN_NO_FILE } from '../../client/open-store.js';
import type { WorkOptions } from '../../client/pawl.js';
import type { AnyTask } from '../../client/task.js';
import type { Duration } from '../../engine/duration.js';
import { PawlError } from '../../errors.js';
import { LOG_LEVELS, type LogLevel } from '../../ports/logger.js';
import { defined } from '../../engine/defined.js';
import { flagOf, type Flags, type Shell } from '../shell.js';
import { didYouMean } from '../../engine/did-you-mean.js';
import { loadTasks } from './load-tasks.js';
import { problemIn, readConfig, type ConfigFile } from './read-config.js';
import { present, STORE_VARIABLES } from './store-variables.js';

export const DEFAULT_STORE = 'sqlite:pawl.db';

/** What the command line may say to a process that serves or works. */
export type ProcessFlags = Flags & {
  readonly host?: string;
  readonly port?: number;
  readonly defaultTask?: string;
  readonly concurrency?: number;
  readonly queues?: readonly string[];
  readonly lease?: Duration;
  readonly drain?: Duration;
  readonly workerId?: string;
  readonly logLevel?: LogLevel;
};

/** How a process is to run: the config file, then the environment, then the command line; later wins. */
export type Settings = Omit<
  PawlConfig,
  'tasks' | 'store' | 'worker' | 'server' | 'defaultTask' | 'logLevel'
> & {
  readonly store: string;
  readonly tasks: readonly AnyTask[];
  readonly server: NonNullable<PawlConfig['server']>;
  readonly worker: WorkOptions;
  readonly defaultTask: string;
  readonly logLevel: LogLevel;
  readonly configFile: string | null;
};

type Surroundings = Pick<Shell, 'env' | 'cwd'>;

/** Which store is meant. A config file is only read where nothing else says it. */
export async function storeOf(flags: Flags, around: Surroundings): Promise<string> {
  const said = flags.store ?? storeInEnv(around.env);
  return said ?? storeInConfig(await configOf(flags, around)) ?? DEFAULT_STORE;
}

/** All of it. `files`: tasks that the command line names, instead of the config's. */
export async function readSettings(
  flags: ProcessFlags,
  files: readonly string[],
  around: Surroundings,
): Promise<Settings> {
  const { env, cwd } = around;
  const file = await configOf(flags, around);
  const { config } = file;
  const tasks =
    files.length > 0 ? await loadTasks(files, cwd) : await loadTasks(config.tasks ?? [], file.folder);
  const { tasks: _tasks, ...rest } = config;
  const settings: Settings = {
    ...rest,
    ...defined({ retention: retentionInConfig(file), key: keyInEnv(env) }),
    store: flags.store ?? storeInEnv(env) ?? storeInConfig(file) ?? DEFAULT_STORE,
    tasks,
    server: { ...config.server, ...serverInEnv(env), ...defined({ host: flags.host, port: flags.port }) },
    worker: {
      ...config.worker,
      ...workerInEnv(env),
      ...defined({
        concurrency: flags.concurrency,
        queues: flags.queues,
        lease: flags.lease,
        drain: flags.drain,
        workerId: flags.workerId,
      }),
    },
    defaultTask: flags.defaultTask ?? present(env['PAWL_DEFAULT_TASK']) ?? config.defaultTask ?? DEFAULT_TASK,
    logLevel: flags.logLevel ?? levelInEnv(env) ?? config.logLevel ?? 'warn',
    configFile: file.path,
  };
  expectSound(settings, flags);
  return settings;
}

/** Where a setting comes from if it is not the config's: on the command line, and in the environment. */
const SAID: Readonly<Record<string, readonly [flag: keyof ProcessFlags, variable: string]>> = {
  'server.host': ['host', 'PAWL_HOST'],
  'server.port': ['port', 'PAWL_PORT'],
  'worker.concurrency': ['concurrency', 'PAWL_CONCURRENCY'],
  'worker.queues': ['queues', 'PAWL_QUEUES'],
  'worker.lease': ['lease', 'PAWL_LEASE'],
  'worker.drain': ['drain', 'PAWL_DRAIN'],
  'worker.workerId': ['workerId', 'PAWL_WORKER_ID'],
  defaultTask: ['defaultTask', 'PAWL_DEFAULT_TASK'],
};

/** The config was checked when it was read. What environment and command line put in its place is held to the same. */
function expectSound({ server, worker, defaultTask }: Settings, flags: ProcessFlags): void {
  const found = problemIn({ server, worker, defaultTask });
  if (found === null) return;
  const [flag, variable] = SAID[found.field.replace(/\.\d+$/, '')] ?? [];
  const isFlag = flag !== undefined && flags[flag] !== undefined;
  throw wrong((isFlag ? flagOf(flag) : variable) ?? found.field, found.problem);
}

export function configOf(flags: Flags, { env, cwd }: Surroundings): Promise<ConfigFile> {
  return readConfig(flags.config ?? present(env['PAWL_CONFIG']), cwd);
}

function storeInEnv(env: Shell['env']): string | undefined {
  return STORE_VARIABLES.map((name) => present(env[name])).find((url) => url !== undefined);
}

/** Not on the command line, which every user of the machine can read. */
function keyInEnv(env: Shell['env']): string | undefined {
  return present(env['PAWL_KEY']?.trim());
}

/** A file in a config is named from there, wherever the command is run. */
function storeInConfig({ config, folder }: ConfigFile): string | undefined {
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(config.store ?? '')?.[1];
  const isFile = path !== undefined && path !== IN_NO_FILE;
  return !isFile || isAbsolute(path) ? config.store : `sqlite:${join(folder, path)}`;
}

/** So is a folder for evidence. */
function retentionInConfig({ config: { retention }, folder }: ConfigFile): PawlConfig['retention'] {
  if (typeof retention?.evidence !== 'string') return retention;
  return { ...retention, evidence: resolve(folder, retention.evidence) };
}

function serverInEnv(env: Shell['env']): NonNullable<PawlConfig['server']> {
  return defined({ host: present(env['PAWL_HOST']), port: wholeInEnv(env, 'PAWL_PORT') });
}

function workerInEnv(env: Shell['env']): WorkOptions {
  return defined({
    concurrency: wholeInEnv(env, 'PAWL_CONCURRENCY'),
    queues: present(env['PAWL_QUEUES'])
      ?.split(',')
      .map((queue) => queue.trim())
      .filter((queue) => queue !== ''),
    lease: present(env['PAWL_LEASE']) as Duration | undefined,
    drain: present(env['PAWL_DRAIN']) as Duration | undefined,
    workerId: present(env['PAWL_WORKER_ID']),
  });
}

function levelInEnv(env: Shell['env']): LogLevel | undefined {
  const level = present(env['PAWL_LOG_LEVEL']);
  if (level === undefined || LOG_LEVELS.includes(level as LogLevel)) return level as LogLevel | undefined;
  throw wrong(
    'PAWL_LOG_LEVEL',
    `${JSON.stringify(level)} is none of ${LOG_LEVELS.join(', ')}${didYouMean(level, LOG_LEVELS)}`,
  );
}

function wholeInEnv(env: Shell['env'], name: string): number | undefined {
  const text = present(env[name]);
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw wrong(name, `${JSON.stringify(text)} is no whole number`);
}

function wrong(option: string, problem: string): PawlError {
  return new PawlError('INVALID_OPTION', { detail: `${option}: ${problem}`, details: { option } });
}
