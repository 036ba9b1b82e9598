import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findFiles } from '../../src/cli/config/find-files.js';
import { loadTasks } from '../../src/cli/config/load-tasks.js';
import { checkConfig, findConfig, readConfig } from '../../src/cli/config/read-config.js';
import { readSettings, storeOf } from '../../src/cli/config/settings.js';
import { defineConfig, schedule, task } from '../../src/index.js';

const root = mkdtempSync(join(tmpdir(), 'pawl-config-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;

/** A folder with these files in it. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = join(root, String((folders += 1)));
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

const TASK = (name: string): string =>
  `{ name: '${name}', definition: { name: '${name}', version: null, run: () => 1 } }`;
const order = task({ name: 'order' }, () => 1);

describe('a config file', () => {
  test('is taken as it is when it fits', () => {
    const config = defineConfig({
      store: 'sqlite:pawl.db',
      tasks: [order, 'tasks/*.ts'],
      schedules: [schedule(order, { id: 'nightly', daily: '02:30', input: null })],
      defaultTask: 'order',
      server: { host: '127.0.0.1', port: 0 },
      worker: { concurrency: 1, lease: '30s', poll: 250, drain: '1m', queues: ['mail'], workerId: 'w1' },
      retention: {
        keep: '30d',
        keepKeys: '1w',
        rules: [{ task: 'order', status: 'failed', keep: '90d' }],
        evidence: async () => undefined,
      },
      alerts: {
        every: '1m',
        retryingShare: { share: 0.1 },
        dlqGrowth: false,
        storeUnavailable: { tenantId: 'ops' },
      },
      tracing: {
        origin: () => null,
        execution: () => ({ within: (work) => work(), end: () => undefined }),
      },
      callbacks: { allowPrivate: true },
      hooks: { attemptStarted: () => undefined },
      logLevel: 'info',
    });
    expect(checkConfig('pawl.config.ts', config)).toBe(config);
    expect(checkConfig('pawl.config.ts', {})).toEqual({});
    const other = defineConfig({ alerts: false, retention: { keep: '1d', evidence: 'evidence' } });
    expect(checkConfig('pawl.config.ts', other)).toBe(other);
  });

  test.each([
    [{ stroe: 'memory:' }, 'stroe', "did you mean 'store'"],
    [{ worker: { leese: '30s' } }, 'worker.leese', "did you mean 'lease'"],
    [
      { retention: { keep: '1d', rules: [{ keeep: '1d', keep: '1d' }] } },
      'retention.rules.0.keeep',
      "'keep'",
    ],
    [{ server: { port: '7295' } }, 'server.port', '"7295"'],
    [{ server: { port: 70_000 } }, 'server.port', '70000'],
    [{ worker: { lease: 'soon' } }, 'worker.lease', 'no duration'],
    [{ worker: { concurrency: 0 } }, 'worker.concurrency', '0'],
    [{ worker: { queues: [] } }, 'worker.queues', '[]'],
    [{ tasks: [order, 7] }, 'tasks.1', '7 is neither a task nor a file name'],
    [{ schedules: [{ id: 'nightly' }] }, 'schedules.0', 'schedule()'],
    [{ logLevel: 'loud' }, 'logLevel', 'loud'],
    [{ hooks: { attemptEnded: 'x' } }, 'hooks.attemptEnded', 'no function'],
    [{ retention: { keep: '1d', evidence: '' } }, 'retention.evidence', 'neither the path of a folder'],
    [{ retention: { keep: '1d', evidence: 7 } }, 'retention.evidence', 'neither the path of a folder'],
    [{ tracing: {} }, 'tracing', 'openTelemetry()'],
    [{ alerts: true }, 'alerts', 'true'],
    [{ alerts: { retryngShare: false } }, 'alerts.retryngShare', "did you mean 'retryingShare'"],
    [{ alerts: { dlqGrowth: { atleast: 7 } } }, 'alerts.dlqGrowth.atleast', "did you mean 'atLeast'"],
    [{ alerts: { dlqGrowth: 7 } }, 'alerts.dlqGrowth', '7'],
    [{ alerts: { keep: 'long' } }, 'alerts.keep', 'is "long", which is no duration'],
    [
      { alerts: { retryingShare: { share: 2 } } },
      'alerts.retryingShare.share',
      'no number above 0 and below 1',
    ],
    ['memory:', 'default', 'memory:'],
  ])('that says %j is refused, with the file and the field', (config, field, problem) => {
    const error = catching(() => checkConfig('/app/pawl.config.ts', config));
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', details: { file: '/app/pawl.config.ts', field } });
    expect(error.message).toContain(`/app/pawl.config.ts: ${field}: `);
    expect(error.message).toContain(problem);
  });

  test('that has no JSON is refused in the same way', () => {
    const tracing: { self?: object } = {};
    tracing.self = tracing;
    expect(catching(() => checkConfig('pawl.config.ts', { tracing }))).toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  test('is found where the command is run, TypeScript first; a named one has to be there', async () => {
    const folder = folderWith({ 'pawl.config.mjs': 'export default { logLevel: "error" }' });
    expect(findConfig(undefined, folder)).toBe(join(folder, 'pawl.config.mjs'));
    writeFileSync(join(folder, 'pawl.config.ts'), '');
    expect(findConfig(undefined, folder)).toBe(join(folder, 'pawl.config.ts'));
    expect(findConfig(undefined, folderWith({}))).toBeNull();
    expect(catching(() => findConfig('other.mjs', folder))).toMatchObject({ code: 'FILE_UNREADABLE' });
    expect((await readConfig('pawl.config.mjs', folder)).config).toEqual({ logLevel: 'error' });
  });

  test('that throws, or exports nothing, is named', async () => {
    const folder = folderWith({
      'throws.mjs': 'throw new Error("no such luck")',
      'empty.mjs': 'export const x = 1',
    });
    await expect(readConfig('throws.mjs', folder)).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining('no such luck') as string,
    });
    await expect(readConfig('empty.mjs', folder)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('tasks in files', () => {
  test('are found by name, by * and by **, in order; packages and hidden folders are left out', () => {
    const folder = folderWith({
      'tasks/b.ts': '',
      'tasks/a.ts': '',
      'tasks/deep/er/c.ts': '',
      'tasks/readme.md': '',
      'tasks/node_modules/x/d.ts': '',
      'tasks/.cache/e.ts': '',
    });
    const names = (pattern: string): string[] =>
      findFiles(pattern, folder).map((path) => path.slice(folder.length + 1));
    expect(names('tasks/a.ts')).toEqual(['tasks/a.ts']);
    expect(names('./tasks/*.ts')).toEqual(['tasks/a.ts', 'tasks/b.ts']);
    expect(names('tasks/**/*.ts')).toEqual(['tasks/a.ts', 'tasks/b.ts', 'tasks/deep/er/c.ts']);
    expect(names('**/c.ts')).toEqual(['tasks/deep/er/c.ts']);
    expect(catching(() => names('tasks/*.js'))).toMatchObject({ code: 'FILE_UNREADABLE' });
    expect(catching(() => names('tasks/z.ts'))).toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  test('TSK-4 a task that ships stands in where no `job_type` is named, unless the application has its own', async () => {
    const folder = folderWith({
      'one.mjs': `export const a = ${TASK('a')}; export default [${TASK('b')}]; export const x = 1;`,
      'own.mjs': `export const own = ${TASK('default')};`,
      'none.mjs': 'export const x = 1;',
    });
    const names = async (...files: string[]): Promise<string[]> =>
      (await loadTasks(files, folder)).map(({ definition }) => definition.name).toSorted();
    expect(await names('one.mjs')).toEqual(['a', 'b', 'default']);
    expect(await names('one.mjs', 'own.mjs')).toEqual(['a', 'b', 'default']);
    expect(await names('*.mjs')).toEqual(['a', 'b', 'default']);
    await expect(names('none.mjs')).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    const [ships] = await loadTasks([], folder);
    const step = { run: (_name: string, body: () => unknown) => body() };
    expect(ships?.definition.run({ input: { n: 7 }, step } as never)).toEqual({ n: 7 });
  });
});

describe('config, environment, command line: later wins', () => {
  const config = `export default { store: 'sqlite:data/app.db', tasks: [${TASK('a')}], defaultTask: 'a',
    server: { host: 'config', port: 1 }, worker: { concurrency: 1, lease: '1m', queues: ['x'] }, logLevel: 'error' }`;
  const folder = folderWith({ 'pawl.config.mjs': config });
  const env = {
    PAWL_STORE: 'sqlite:env.db',
    DATABASE_URL: 'postgres://database/url',
    PAWL_HOST: 'env',
    PAWL_PORT: '2',
    PAWL_CONCURRENCY: '2',
    PAWL_QUEUES: 'mail, sms',
    PAWL_LEASE: '2m',
    PAWL_LOG_LEVEL: 'info',
    PAWL_DEFAULT_TASK: 'b',
  };

  test('the file alone: its store is named from where it lies', async () => {
    expect(await readSettings({}, [], { env: {}, cwd: folder })).toMatchObject({
      store: `sqlite:${join(folder, 'data/app.db')}`,
      server: { host: 'config', port: 1 },
      worker: { concurrency: 1, lease: '1m', queues: ['x'] },
      defaultTask: 'a',
      logLevel: 'error',
      configFile: join(folder, 'pawl.config.mjs'),
    });
  });

  test('the environment over it; an empty variable counts for nothing', async () => {
    expect(await readSettings({}, [], { env, cwd: folder })).toMatchObject({
      store: 'sqlite:env.db',
      server: { host: 'env', port: 2 },
      worker: { concurrency: 2, lease: '2m', queues: ['mail', 'sms'] },
      defaultTask: 'b',
      logLevel: 'info',
    });
    const empty = { ...env, PAWL_STORE: '', PAWL_DEFAULT_TASK: '' };
    expect(await readSettings({}, [], { env: empty, cwd: folder })).toMatchObject({
      store: 'postgres://database/url',
      defaultTask: 'a',
    });
  });

  test('the command line over both', async () => {
    const flags = {
      store: 'memory:',
      host: 'flag',
      port: 3,
      concurrency: 3,
      queues: ['q'],
      logLevel: 'debug',
    } as const;
    expect(await readSettings(flags, [], { env, cwd: folder })).toMatchObject({
      store: 'memory:',
      server: { host: 'flag', port: 3 },
      worker: { concurrency: 3, lease: '2m', queues: ['q'] },
      logLevel: 'debug',
    });
  });

  test('what is in no file is not made one, and a folder for evidence is named from the config as well', async () => {
    const memory = folderWith({ 'pawl.config.mjs': "export default { store: 'sqlite::memory:' }" });
    expect(await storeOf({}, { env: {}, cwd: memory })).toBe('sqlite::memory:');
    const retention = (evidence: string): string =>
      `export default { retention: { keep: '1d', evidence: ${evidence} } }`;
    const settings = async (evidence: string) =>
      readSettings({}, [], { env: {}, cwd: folderWith({ 'pawl.config.mjs': retention(evidence) }) });
    const { retention: kept, configFile } = await settings("'kept/evidence'");
    expect(kept).toEqual({ keep: '1d', evidence: join(dirname(configFile ?? ''), 'kept/evidence') });
    expect((await settings("'/srv/evidence'")).retention?.evidence).toBe('/srv/evidence');
    expect((await settings('() => undefined')).retention?.evidence).toBeTypeOf('function');
  });

  test('nothing at all: one SQLite file', async () => {
    const cwd = folderWith({});
    expect(await storeOf({}, { env: {}, cwd })).toBe('sqlite:pawl.db');
    expect(await readSettings({}, [], { env: {}, cwd })).toMatchObject({
      defaultTask: 'default',
      logLevel: 'warn',
    });
  });

  test('a store that is named is found without the config, however broken', async () => {
    const cwd = folderWith({ 'pawl.config.mjs': 'nonsense(' });
    expect(await storeOf({ store: 'memory:' }, { env: {}, cwd })).toBe('memory:');
    await expect(storeOf({}, { env: {}, cwd })).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  test.each([
    ['PAWL_PORT', 'http', 'no whole number'],
    ['PAWL_PORT', '99999', '99999 does not fit'],
    ['PAWL_CONCURRENCY', '0', '0 does not fit'],
    ['PAWL_QUEUES', ' , ', '[] does not fit'],
    ['PAWL_LEASE', 'soon', '"soon" is no duration'],
    ['PAWL_LOG_LEVEL', 'inof', "did you mean 'info'"],
  ])('%s=%s names the variable', async (name, value, problem) => {
    const settings = readSettings({}, [], { env: { [name]: value }, cwd: folder });
    await expect(settings).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { option: name } });
    await expect(settings).rejects.toThrow(problem);
  });

  test.each([
    ['--queues', { queues: ['mail', ''] }],
    ['--queues', { queues: ['two\nlines'] }],
    ['--worker-id', { workerId: '' }],
    ['--drain', { drain: '1x' as '1s' }],
  ])('so does %s name itself: %j', async (option, flags) => {
    const settings = readSettings(flags, [], { env: { PAWL_QUEUES: 'mail,' }, cwd: folder });
    await expect(settings).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { option } });
  });
});

function catching(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
