import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/program.js';
import { DEFAULT_TASK } from '../../src/client/default-task.js';
import { pawl as open } from '../../src/index.js';
import { cliOn } from './in-process.js';

const root = mkdtempSync(join(tmpdir(), 'pawl-in-use-'));
afterAll(() => rmSync(root, { recursive: true }));
let cwd = '';
let store = '';

const CONFIG = `
  import { appendFileSync } from 'node:fs';
  export default {
    store: 'sqlite:pawl.db',
    alerts: { transitionRefused: { inARow: 1 } },
    retention: { keep: '1d', evidence: 'evidence' },
    tracing: {
      origin: () => null,
      execution: ({ task }) => {
        appendFileSync(new URL('traced.txt', import.meta.url), task);
        return { within: (run) => run(), end: () => undefined };
      },
    },
  };
`;

beforeEach(() => {
  cwd = mkdtempSync(join(root, 'app-'));
  store = `sqlite:${join(cwd, 'pawl.db')}`;
  writeFileSync(join(cwd, 'pawl.config.mjs'), CONFIG);
});

/** A server that also works, in this process. Answers with where it listens. */
async function serving(): Promise<{ url: string; stop: () => Promise<number> }> {
  let [out, err] = ['', ''];
  const console = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    isTerminal: false,
  };
  const before = new Set(process.listeners('SIGTERM'));
  const ended = run(['server', '--work', '--port', '0'], console, [process.execPath], { env: {}, cwd });
  const stop = (): Promise<number> => {
    for (const hear of process.listeners('SIGTERM')) if (!before.has(hear)) hear('SIGTERM');
    return ended;
  };
  onTestFinished(() => void stop());
  await expect.poll(() => `${out}${err}`).toMatch(/listens on http\S+/);
  return { url: /listens on (http\S+)/.exec(out)?.[1] ?? '', stop };
}

test('JOB-12 a process has the alerts and the tracing that its config says', async () => {
  const { url, stop } = await serving();
  const pawl = cliOn(store, { cwd });
  const { job_id: jobId } = await pawl.json('start', 'default', '{}', '--wait');
  expect(readFileSync(join(cwd, 'traced.txt'), 'utf8')).toBe('default');
  const refused = await fetch(`${url}/api/v1/jobs/${String(jobId)}/cancel`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(refused.status).toBe(409);
  const raised = (await (await fetch(`${url}/api/v1/alerts`)).json()) as object;
  expect(JSON.stringify(raised)).toContain('transition_refused');
  expect(await stop()).toBe(0);
});

test('JOB-12 a command that is refused raises an alert by the rules of the config', async () => {
  const pawl = cliOn(store, { cwd });
  const { job_id: jobId } = await pawl.json('start', 'a');
  expect(await pawl('jobs', 'cancel', String(jobId))).toMatchObject({ code: 0 });
  const app = await open({ store });
  onTestFinished(() => app.close());
  expect(await app.alerts.list()).toEqual([]);
  expect(await pawl('jobs', 'cancel', String(jobId))).toMatchObject({
    code: 3,
    err: expect.stringMatching(/^pawl: .*\n$/) as string,
  });
  expect(await app.alerts.list()).toMatchObject([{ rule: 'transition_refused' }]);
});

test('a task that the config does not have is started all the same, and that is said', async () => {
  const greet = `{ definition: { name: 'greet', run: () => null } }`;
  const config = `export default { store: 'sqlite:pawl.db', tasks: [${greet}] };`;
  writeFileSync(join(cwd, 'pawl.config.mjs'), config);
  const pawl = cliOn(store, { cwd });
  const said = "The config has no task 'gret' (did you mean 'greet'?): somebody else has to run it.\n";
  expect(await pawl('start', 'gret')).toMatchObject({ code: 0, err: said });
  expect(await pawl('schedules', 'put', 'often', 'gret', '--every', '1h')).toMatchObject({
    code: 0,
    err: said,
  });
  expect(await pawl('start', DEFAULT_TASK, '{}')).toMatchObject({ code: 0, err: '' });
  expect(await pawl('start', 'gret', '--json')).toMatchObject({ code: 0, err: '' });
});

test('--version is the release of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  let out = '';
  const console = { out: (text: string) => void (out += text), err: () => undefined, isTerminal: false };
  expect(await run(['--version'], console, [process.execPath], { env: {}, cwd })).toBe(0);
  expect(out.trim()).toBe(version);
});

test.each(['PAWL_STORE', 'DATABASE_URL'])(
  'an error about a store that %s names says so: a config may name another',
  async (variable) => {
    const said: string[] = [];
    const console = { out: () => undefined, err: (text: string) => void said.push(text), isTerminal: false };
    const asked = (...args: string[]) =>
      run(['jobs', 'list', ...args], console, [process.execPath], {
        env: { [variable]: 'mysql://elsewhere' },
        cwd: tmpdir(),
      });
    expect(await asked()).toBe(2);
    expect(said.join('')).toMatch(
      new RegExp(`STORE_URL_INVALID.*\nThe address of the store is from ${variable}\\.`),
    );
    said.length = 0;
    await asked('--store', 'mysql://here');
    expect(said.join('')).not.toContain(variable);
  },
);
