import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { runSnapshot } from '../../src/http/views.js';
import type { RunSnapshot } from '../../src/index.js';
import { mainOf, newFolder, shownByCli, startApp } from './start-app.js';

const TOKEN = 'a token that nobody guesses';

/** Counts what was done, then waits for a file: a run that stays in the middle for as long as a test likes. */
const COUNT = `version: 1
name: count
steps:
  - { name: count, action: shell.run, args: { script: 'echo once >> "$LOG"', env: { LOG: 'FOLDER/log' } } }
  - { name: wait, action: wait.until, args: { cmd: [test, -f, 'FOLDER/go'], every: 50ms } }
  - { name: end, action: cmd.run, args: { cmd: [echo, done] } }
`;

const SLEEP = `version: 1
name: sleep
steps:
  - { name: sleep, action: shell.run, args: { script: 'echo $$ > FOLDER/pid; exec sleep 600' } }
`;

/** Longer than a busy machine may stand still: a command whose lease runs out has an end that nobody knows. */
const LEASE_MS = 5_000;

function newAgent() {
  const folder = newFolder();
  const store = `sqlite:${join(folder, 'agent.db')}`;
  const workflows = join(folder, 'workflows');
  mkdirSync(workflows);
  writeFileSync(join(workflows, 'count.yaml'), COUNT.replaceAll('FOLDER', folder));
  writeFileSync(join(workflows, 'sleep.yaml'), SLEEP.replaceAll('FOLDER', folder));
  writeFileSync(join(workflows, 'wrong.yaml'), 'version: 1\nname: wrong\nsteps: [{ name: a, action: no }]\n');
  writeFileSync(join(workflows, 'other.yaml'), 'version: 1\nname: another\nsteps: []\n');
  const env = {
    AGENT_TOKEN: TOKEN,
    AGENT_PORT: '0',
    AGENT_STORE: store,
    AGENT_WORKFLOWS: workflows,
    AGENT_LEASE_MS: String(LEASE_MS),
  };
  const start = (more = {}) => startApp('agent-server', { ...env, ...more });
  return { folder, store, start, go: () => writeFileSync(join(folder, 'go'), '') };
}

type Answer<T> = { readonly status: number; readonly body: T };

async function ask<T = RunSnapshot>(
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer<T>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as T };
}

/** The run once it is as far as the test wants it. */
function until(url: string, runId: string, isThere: (run: RunSnapshot) => boolean): Promise<RunSnapshot> {
  return vi.waitUntil(
    async () => {
      const { body } = await ask(url, 'GET', `/runs/${runId}`);
      return isThere(body) ? body : null;
    },
    { timeout: 200_000, interval: 50 },
  );
}

const isWaiting = ({ steps }: RunSnapshot): boolean => steps[1]?.hosts['local']?.status === 'running';
const hasEnded = ({ finished_at: at }: RunSnapshot): boolean => at !== null;
const stepsOf = ({ steps }: RunSnapshot) => steps.map(({ name, status }) => [name, status]);

type Heartbeat = {
  alive: boolean;
  running: { run_id: string; lease_age_ms: number | null; doing: string }[];
};

describe('examples/agent-server', () => {
  test('RST-14 killed in the middle of a run and started again: the run goes on, and nothing is done twice', async () => {
    const { folder, start, go } = newAgent();
    const first = await start();
    const started = await ask(first.url, 'POST', '/runs', { workflow: 'count' });
    expect(started).toMatchObject({ status: 201, body: { workflow_name: 'count', status: 'running' } });
    const { run_id: runId } = started.body;
    await until(first.url, runId, isWaiting);
    await first.kill();

    const second = await start();
    expect((await ask(second.url, 'GET', `/runs/${runId}`)).body).toMatchObject({ status: 'running' });
    go();
    const run = await until(second.url, runId, hasEnded);
    expect(run.status).toBe('success');
    expect(stepsOf(run)).toEqual([
      ['count', 'success'],
      ['wait', 'success'],
      ['end', 'success'],
    ]);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('once\n');
    expect(await second.stop()).toBe(0);
  });

  test('RST-14 told to interrupt: the run is archived with its reason, history is kept, and new runs are taken', async () => {
    const { start, go } = newAgent();
    const first = await start();
    const { run_id: runId } = (await ask(first.url, 'POST', '/runs', { workflow: 'count' })).body;
    await until(first.url, runId, isWaiting);
    await first.kill();

    go();
    const second = await start({ AGENT_AFTER_RESTART: 'interrupt' });
    const { body: run } = await ask(second.url, 'GET', `/runs/${runId}`);
    expect(run).toMatchObject({ status: 'interrupted', interrupted_reason: 'the agent was restarted' });
    expect(stepsOf(run)).toEqual([
      ['count', 'success'],
      ['wait', 'interrupted'],
    ]);
    const { body: next } = await ask(second.url, 'POST', '/runs', {
      workflow: 'count',
      run_id: 'count-again',
    });
    expect(next.run_id).toBe('count-again');
    expect((await until(second.url, 'count-again', hasEnded)).status).toBe('success');
    const { body: list } = await ask<{ runs: RunSnapshot[] }>(second.url, 'GET', '/runs');
    expect(list.runs.map(({ run_id, status }) => [run_id, status])).toEqual([
      ['count-again', 'success'],
      [runId, 'interrupted'],
    ]);
    // The job is gone with it: nobody goes on with the run, not even one who resumes.
    await second.kill();
    const third = await start();
    expect((await ask<Heartbeat>(third.url, 'GET', '/heartbeat')).body).toEqual({ alive: true, running: [] });
  });

  test('RST-14 a second agent on the same port ends, and leaves the runs of the first alone', async () => {
    const { start, go } = newAgent();
    const { url } = await start();
    const { run_id: runId } = (await ask(url, 'POST', '/runs', { workflow: 'count' })).body;
    await until(url, runId, isWaiting);
    const port = new URL(url).port;
    await expect(start({ AGENT_PORT: port, AGENT_AFTER_RESTART: 'interrupt' })).rejects.toThrow('EADDRINUSE');
    go();
    expect((await until(url, runId, hasEnded)).status).toBe('success');
  });

  test('RST-14 a workflow that has changed meanwhile is not gone on with, and the run says why', async () => {
    const { folder, start } = newAgent();
    const first = await start();
    const { run_id: runId } = (await ask(first.url, 'POST', '/runs', { workflow: 'count' })).body;
    await until(first.url, runId, isWaiting);
    await first.kill();

    const file = join(folder, 'workflows/count.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('done', 'something else'));
    const second = await start();
    expect((await ask(second.url, 'GET', `/runs/${runId}`)).body).toMatchObject({
      status: 'failed',
      last_error: { code: 'DUPLICATE' },
    });
  });

  test('RST-10 a run is answered in the shape of the API and the CLI, and an unknown one is not found', async () => {
    const { store, start, go } = newAgent();
    const { url, stop } = await start();
    go();
    const { run_id: runId } = (await ask(url, 'POST', '/runs', { workflow: 'count' })).body;
    const run = runSnapshot.parse(await until(url, runId, hasEnded));
    expect(shownByCli({ store, runId })).toEqual(run);
    expect(await ask(url, 'GET', '/runs/run_unknown')).toMatchObject({
      status: 404,
      body: { error: { code: 'JOB_NOT_FOUND' } },
    });
    expect(await stop()).toBe(0);
  });

  test('RST-14 the heartbeat tells of the lease, and a cancel ends the run and its command', async () => {
    const { folder, start } = newAgent();
    const { url } = await start();
    const { run_id: runId } = (await ask(url, 'POST', '/runs', { workflow: 'sleep' })).body;
    await vi.waitUntil(() => existsSync(join(folder, 'pid')), { timeout: 200_000 });
    const heartbeat = async () => (await ask<Heartbeat>(url, 'GET', '/heartbeat')).body;
    expect(await heartbeat()).toMatchObject({ alive: true, running: [{ run_id: runId }] });
    // On a busy machine it may have just run out, and be renewed after all.
    const isFresh = (age: number | null | undefined) => typeof age === 'number' && age >= 0 && age < LEASE_MS;
    await expect.poll(async () => (await heartbeat()).running[0]?.lease_age_ms).toSatisfy(isFresh);

    const cancelled = await ask(url, 'POST', `/runs/${runId}/cancel`, { reason: 'no longer wanted' });
    expect(cancelled).toMatchObject({
      status: 200,
      body: { status: 'canceled', message: 'no longer wanted' },
    });
    const again = await ask(url, 'POST', `/runs/${runId}/cancel`, {});
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'INVALID_TRANSITION' } } });
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    await vi.waitUntil(() => !isAlive(pid), { timeout: 200_000 });
    await vi.waitUntil(async () => (await heartbeat()).running.length === 0, { timeout: 200_000 });
    expect((await ask(url, 'GET', `/runs/${runId}`)).body.status).toBe('canceled');
  });

  test('RST-14 without the token nothing is told or done; without one of its own the agent does not start', async () => {
    const { start } = newAgent();
    const { url } = await start();
    for (const authorization of ['', TOKEN, `Bearer ${TOKEN}x`, 'Bearer ', `Basic ${TOKEN}`]) {
      for (const [method, path] of [
        ['GET', '/runs'],
        ['GET', '/heartbeat'],
        ['GET', '/nothing'],
        ['POST', '/runs'],
      ] as const) {
        const response = await fetch(`${url}${path}`, { method, headers: { authorization } });
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
        expect(await response.json()).toMatchObject({ error: { code: 'UNAUTHENTICATED' } });
      }
    }
    expect((await ask<{ runs: [] }>(url, 'GET', '/runs')).body.runs).toEqual([]);
    const health = await fetch(`${url}/health`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    const main = mainOf('agent-server');
    for (const token of ['', 'too short']) {
      const refused = spawnSync(process.execPath, [main], {
        env: { ...process.env, AGENT_TOKEN: token, AGENT_STORE: 'memory:' },
        encoding: 'utf8',
      });
      expect([refused.status, refused.stderr]).toEqual([
        78,
        'AGENT_TOKEN must be set, to 16 characters or more.\n',
      ]);
    }
  });

  test('RST-14 what is wrong with a request is told with a code, and nothing is begun', async () => {
    const { start } = newAgent();
    const { url } = await start();
    const refused: [method: string, path: string, body: unknown, status: number, code: string][] = [
      ['POST', '/runs', '{', 400, 'INVALID_REQUEST'],
      ['POST', '/runs', '[]', 400, 'INVALID_REQUEST'],
      ['POST', '/runs', {}, 400, 'INVALID_REQUEST'],
      ['POST', '/runs', { workflow: '../count' }, 400, 'INVALID_REQUEST'],
      ['POST', '/runs', { workflow: 'count', runid: 'mistyped' }, 400, 'INVALID_REQUEST'],
      ['POST', '/runs', { workflow: 'count', run_id: 'short' }, 400, 'INVALID_REQUEST'],
      ['POST', '/runs', { workflow: 'missing' }, 404, 'FILE_UNREADABLE'],
      ['POST', '/runs', { workflow: 'wrong' }, 422, 'WORKFLOW_INVALID'],
      ['POST', '/runs', { workflow: 'other' }, 422, 'WORKFLOW_INVALID'],
      ['POST', '/runs', `{"workflow":"${'x'.repeat(70_000)}"}`, 413, 'REQUEST_TOO_LARGE'],
      ['POST', '/runs/run_unknown/cancel', {}, 404, 'JOB_NOT_FOUND'],
      ['DELETE', '/runs/run_unknown', undefined, 404, 'ROUTE_NOT_FOUND'],
      ['GET', '/runs/%2e%2e', undefined, 404, 'ROUTE_NOT_FOUND'],
    ];
    for (const [method, path, body, status, code] of refused) {
      expect(
        await ask(url, method, path, body),
        `${method} ${path} ${JSON.stringify(body)?.slice(0, 80)}`,
      ).toMatchObject({
        status,
        body: { error: { code } },
      });
    }
    const form = await fetch(`${url}/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: new URLSearchParams({ workflow: 'count' }),
    });
    expect(form.status).toBe(415);
    expect((await ask<{ runs: [] }>(url, 'GET', '/runs')).body.runs).toEqual([]);

    expect((await ask(url, 'POST', '/runs', { workflow: 'count', run_id: 'count-once' })).status).toBe(201);
    expect(await ask(url, 'POST', '/runs', { workflow: 'count', run_id: 'count-once' })).toMatchObject({
      status: 409,
      body: { error: { code: 'JOB_EXISTS' } },
    });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
