import { createServer } from 'node:net';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ScratchApp } from '../../scripts/cli-page/scratch-app.js';
import { bundled } from '../bundled.js';

const build = pathToFileURL(`${await bundled()}/`);

const TASKS = (answer: string): string => `
  import { task, type HandlerContext } from 'pawl';
  import { appendFileSync } from 'node:fs';
  import { answer } from './answer.js';
  export const ask = task({ name: 'ask' }, () => answer satisfies string);
  export const slow = task({ name: 'slow' }, async ({ step, signal }: HandlerContext<unknown>) => {
    await step.run('first', () => void appendFileSync('ran.txt', 'first\\n'));
    appendFileSync('ran.txt', 'entered\\n');
    if (answer === 'old') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return ${answer};
  });
`;
const CONFIG = `
  import { defineConfig, type PawlConfig } from 'pawl';
  const config: PawlConfig = { store: 'sqlite:app.db', tasks: ['tasks/*.ts'], server: { port: 0 } };
  export default defineConfig(config);
`;

function newApp(): ScratchApp {
  const app = new ScratchApp(build);
  onTestFinished(() => app.remove());
  app.write('pawl.config.ts', CONFIG);
  app.write('tasks/tasks.ts', TASKS('answer'));
  app.write('tasks/answer.ts', "export const answer: string = 'old';");
  return app;
}

const URL_SAID = /listens on (http:\/\/127\.0\.0\.1:\d+)/;

describe('pawl server', () => {
  test('opens the API and runs nothing; pawl worker runs it; both end in peace on SIGTERM', async () => {
    const app = newApp();
    const server = app.begin(['server']);
    const [, url = ''] = await server.until(URL_SAID);
    const post = (path: string, body: object) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const created = (await (await post('/api/v1/jobs', { job_type: 'ask' })).json()) as {
      data: { job_id: string };
    };
    const { job_id: jobId } = created.data;
    const why = await app.run(['jobs', 'why', jobId, '--json']);
    expect(JSON.parse(why.out)).toMatchObject({ code: 'no_worker' });

    const worker = app.begin(['worker']);
    await worker.until(/worker {3}runs ask, default, slow/);
    const ended = (await (await fetch(`${url}/api/v1/jobs/${jobId}?wait_ms=60000`)).json()) as object;
    expect(ended).toMatchObject({ data: { status: 'succeeded', result_json: 'old' } });
    const task = await post('/api/v1/tasks', {
      task_id: 'task-0001',
      schedule_type: 'at',
      scheduled_at: '2020-01-01T00:00:00Z',
      payload: { n: 7 },
    });
    expect(task.status).toBe(201);
    const shipped = (await (await fetch(`${url}/api/v1/jobs?job_type=default`)).json()) as {
      data: { jobs: { job_id: string }[] };
    };
    const run = (await (
      await fetch(`${url}/api/v1/jobs/${shipped.data.jobs[0]?.job_id}?wait_ms=60000`)
    ).json()) as object;
    expect(run).toMatchObject({ data: { status: 'succeeded', result_json: { n: 7 } } });
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(await server.stop('SIGINT')).toMatchObject({ code: 0 });
  });

  test('an address in use, keys that are missing, a store that is none: one sentence and an exit code', async () => {
    const app = newApp();
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    const run = (...args: string[]) => app.run(['server', '--port', String(port), ...args]);
    expect(await run()).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^pawl: ADDRESS_UNUSABLE: .*EADDRINUSE.*\n$/) as string,
    });
    taken.close();
    expect(await run('--host', '0.0.0.0')).toMatchObject({
      code: 77,
      err: expect.stringMatching(/^pawl: KEYS_REQUIRED: .*\n$/) as string,
    });
    expect(await run('--store', 'sqlite:/no/such/folder/x.db')).toMatchObject({
      code: 75,
      err: expect.stringMatching(/^pawl: STORE_UNAVAILABLE: .*\n$/) as string,
    });
    expect(await run('--store', 'mysql://x')).toMatchObject({ code: 2 });
    const dev = await app.run(['dev', '--host', '0.0.0.0']);
    expect(dev).toMatchObject({ code: 77, err: expect.stringContaining('KEYS_REQUIRED') as string });
  });
});

describe('pawl worker', () => {
  test('GUA-11 /readyz is true while it can work; a job under way is handed back on SIGTERM', async () => {
    const app = newApp();
    const probe = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => probe.once('listening', resolve));
    const { port } = probe.address() as { port: number };
    await new Promise((resolve) => probe.close(resolve));
    // What a module leaves open must not keep the process from ending.
    app.write('tasks/open.ts', 'setInterval(() => undefined, 1_000);');
    const worker = app.begin(['worker', '--health-port', String(port), '--drain', '100ms', '--narrate']);
    await worker.until(/health {3}http/);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404);
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect([metrics.status, metrics.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    const text = await metrics.text();
    expect(text).toContain('pawl_dlq_entries_total{tenant="default"} 0');
    // What is in the store is left to servers to tell.
    expect(text).not.toContain('pawl_jobs{');
    const { out } = await app.run(['start', 'slow', '--json']);
    const { job_id: jobId } = JSON.parse(out) as { job_id: string };
    await worker.until(/▸ slow/);
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0 });
    const shown = await app.run(['jobs', 'show', jobId, '--json']);
    expect(JSON.parse(shown.out)).toMatchObject({ state: 'interrupted', retry_count: 0 });
  });

  test('an address for its health that cannot be had is found out before any job is claimed', async () => {
    const app = newApp();
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    const { out } = await app.run(['start', 'ask', '--json']);
    expect(await app.run(['worker', '--health-port', String(port)])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^pawl: ADDRESS_UNUSABLE: .*EADDRINUSE.*--health-port.*\n$/) as string,
    });
    const { job_id: jobId } = JSON.parse(out) as { job_id: string };
    const shown = await app.run(['jobs', 'show', jobId, '--json']);
    expect(JSON.parse(shown.out)).toMatchObject({ state: 'queued' });
  });

  test('GUA-10 works on though nobody reads what it prints, and is drained in the end', async () => {
    const app = newApp();
    const worker = app.begin(['worker', '--narrate', '--drain', '100ms']);
    worker.child.stdout?.destroy();
    await app.run(['start', 'ask']);
    await worker.until(/✓ ask/);
    worker.child.stderr?.destroy();
    for (const task of ['ask', 'slow']) await app.run(['start', task]);
    const states = async () => {
      const { out } = await app.run(['jobs', 'list', '--json']);
      return (JSON.parse(out) as { jobs: { state: string }[] }).jobs.map(({ state }) => state);
    };
    await expect.poll(states).toEqual(['running', 'succeeded', 'succeeded']);
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(await states()).toEqual(['interrupted', 'succeeded', 'succeeded']);
    // One who only prints ends when there is nobody to print for.
    const list = app.begin(['jobs', 'list']);
    list.child.stdout?.destroy();
    expect(await list.ended).toMatchObject({ code: 0, err: '' });
  });

  test('a second process with its id makes it stop, with an exit code', async () => {
    const app = newApp();
    const first = app.begin(['worker', '--worker-id', 'w-1', '--lease', '3s']);
    await first.until(/worker {3}runs/);
    const second = app.begin(['worker', '--worker-id', 'w-1', '--lease', '3s']);
    await second.until(/worker {3}runs/);
    expect(await first.ended).toMatchObject({
      code: 1,
      err: expect.stringContaining('pawl: WORKER_ID_IN_USE') as string,
    });
    expect(await second.stop()).toMatchObject({ code: 0 });
  });
});

describe('pawl dev', () => {
  test('begins anew when a task changes, keeps the job that ran, and survives code that is broken', async () => {
    const app = newApp();
    const dev = app.begin(['dev'], { PAWL_DRAIN: '100ms' });
    await dev.until(URL_SAID);
    const { out } = await app.run(['start', 'slow', '--json']);
    const { job_id: jobId } = JSON.parse(out) as { job_id: string };
    await dev.until(/▸ slow/);
    app.write('tasks/answer.ts', 'nonsense(');
    await dev.until(/FILE_UNREADABLE.*answer\.ts:1.*waiting for a change/s);
    app.write('tasks/answer.ts', "export const answer: string = 'new';");
    await dev.until(/✓ slow/);
    const shown = await app.run(['jobs', 'show', jobId, '--json']);
    expect(JSON.parse(shown.out)).toMatchObject({ state: 'succeeded', result_json: 'new', retry_count: 0 });
    const events = await app.run(['jobs', 'events', jobId]);
    expect(events.out.match(/step\.recorded/g)).toHaveLength(1);
    expect(await dev.stop('SIGINT')).toMatchObject({ code: 0 });
  });

  test('what it started does not outlive it', async () => {
    const app = newApp();
    const dev = app.begin(['dev']);
    const [, url = ''] = await dev.until(URL_SAID);
    await dev.stop('SIGKILL');
    await expect
      .poll(() =>
        fetch(url).then(
          () => 'there',
          () => 'gone',
        ),
      )
      .toBe('gone');
  });
});

test('TypeScript is run as it is: types, .js for .ts, and a clear no to an enum', async () => {
  const app = newApp();
  app.write(
    'tasks/odd.ts',
    "import { task } from 'pawl';\nenum Odd { A }\nexport const odd = task({ name: 'odd' }, () => Odd.A);",
  );
  expect(await app.run(['worker'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^pawl: FILE_UNREADABLE: .*odd\.ts:2: .*enum is not supported/) as string,
  });
  expect(await app.run(['start', 'ask', '-'], { input: '7' })).toMatchObject({ code: 2 });
  app.write('pawl.config.ts', CONFIG.replace('server:', 'sever:').replace(': PawlConfig', ''));
  expect(await app.run(['worker'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /CONFIG_INVALID: .*pawl\.config\.ts: sever: .*did you mean 'server'/,
    ) as string,
  });
});
