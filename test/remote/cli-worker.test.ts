import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { cliOn } from '../cli/in-process.js';
import { groundOn, sqliteUrl } from './ground.js';

/** A folder with one task, and with a config that says this. */
function folderWith(config: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-cli-remote-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // Made by the package itself it would take a build: what a task needs of its definition is what one of another has.
  const code = `export const greet = { name: 'greet', definition: globalThis.greetDefinition };`;
  writeFileSync(join(folder, 'tasks.mjs'), code);
  writeFileSync(join(folder, 'pawl.config.mjs'), `export default ${JSON.stringify(config)};`);
  return folder;
}

const greet = task({ name: 'greet' }, ({ input }) => `Hello, ${String(input)}!`);
Object.assign(globalThis, { greetDefinition: greet.definition });

test.each(['environment', 'config'])('a worker of the CLI has its key from the %s', async (from) => {
  const { app, serving, key } = await groundOn(sqliteUrl());
  const token = await key('default');
  const inConfig = from === 'config';
  const pawl = cliOn(serving.url, {
    cwd: folderWith(inConfig ? { key: token } : {}),
    env: inConfig ? {} : { PAWL_KEY: `${token}\n` },
  });
  const { job } = await app.start(greet, 'Ann');
  const ended = pawl('worker', 'tasks.mjs');
  const failed = ended.then(({ err }) => Promise.reject(new Error(err)));
  expect(await Promise.race([job.result({ timeout: '200s' }), failed])).toBe('Hello, Ann!');
  process.emit('SIGTERM');
  await failed.catch(() => undefined);
  expect(await ended).toMatchObject({
    code: 0,
    out: expect.stringContaining('runs default, greet') as string,
  });
});

test('one without a key, or with a wrong one, is told where to put it', async () => {
  const { serving, key } = await groundOn(sqliteUrl());
  await key();
  const cwd = folderWith({});
  const without = await cliOn(serving.url, { cwd })('worker', 'tasks.mjs');
  expect(without).toMatchObject({ code: 77, err: expect.stringContaining('set PAWL_KEY') as string });
  const wrong = await cliOn(serving.url, { cwd, env: { PAWL_KEY: 'pawl_wrong' } })('worker', 'tasks.mjs');
  expect(wrong).toMatchObject({ code: 77, err: expect.stringContaining('in PAWL_KEY') as string });
  expect(wrong.err).not.toContain('pawl_wrong');
});

test('a server is no store to open another server on', async () => {
  const { serving } = await groundOn(sqliteUrl());
  const { code, err } = await cliOn(serving.url, { cwd: folderWith({}) })('server', '--port', '0');
  expect([code, err]).toEqual([2, expect.stringContaining('REMOTE_UNSUPPORTED')]);
});

test('a key in the environment is no business of another store', async () => {
  const { code, err } = await cliOn('sqlite:/no/such/folder/x.db', {
    cwd: folderWith({}),
    env: { PAWL_KEY: 'k' },
  })('worker', 'tasks.mjs');
  expect([code, err]).toEqual([75, expect.stringContaining('STORE_UNAVAILABLE')]);
});
