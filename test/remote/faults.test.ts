import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { serve } from '../../src/http/serve.js';
import { effect, Pawl, pawl, task } from '../../src/index.js';
import { changesOf, findBreaches } from '../../src/kernel/index.js';
import { revokeKey } from '../../src/engine/api-keys.js';
import { readLog } from '../../src/engine/read-log.js';
import { prng } from '../../src/testkit/index.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { bundled } from '../bundled.js';
import { LONG } from '../long-mode.js';
import { groundOn, LEASE, remoteApp, sqliteUrl, type Ground } from './ground.js';
import { LossyProxy } from './lossy-proxy.js';
import type { Killing } from './remote-process.js';

let postgres: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), 'pawl-remote-faults-'));

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true });
});

const STORES = { sqlite: async () => sqliteUrl(), postgres: () => postgres.createDatabase() };
const RESULT = { timeout: '200s' } as const;
const buy = task({ name: 'buy' }, () => null);

/** Nothing of a job's log breaks a rule. */
async function breachesOf(app: Pawl, jobId: string): Promise<unknown[]> {
  return findBreaches(changesOf(await readLog(Pawl.inside(app).engine.store, jobId)));
}

const CHOSEN = Object.entries(STORES).filter(([name]) => LONG || name === 'sqlite');

describe.each(CHOSEN)('a remote worker in a process of its own, before a server on %s', (name, url) => {
  let processes: ChildProcess[] = [];

  async function start({ serving, key }: Ground, witness: string): Promise<ChildProcess> {
    const child = fork(
      join(await bundled(), 'test/remote/remote-process.js'),
      [serving.url, await key(), witness],
      { stdio: 'ignore', cwd: tmpdir() },
    );
    processes.push(child);
    return child;
  }

  async function stopAll(): Promise<void> {
    for (const child of processes) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
    processes = [];
  }

  test.each([
    ['before', 'ch_1', 1],
    ['in', 'ch_found', 1],
    ['after', 'ch_1', 1],
  ] as const)('GUA-5 killed %s its effect: it happened once', async (at, paid, charges) => {
    const witness = join(folder, `${name}-${at}`);
    const ground = await groundOn(await url());
    onTestFinished(stopAll);
    const first = await start(ground, witness);
    const { job } = await ground.app.start(buy, { at } satisfies Killing, { tenantId: 'acme' });
    await once(first, 'exit');
    expect(first.signalCode).toBe('SIGKILL');
    await start(ground, witness);
    expect(await job.result(RESULT)).toEqual({ paid });
    const lines = existsSync(witness) ? readFileSync(witness, 'utf8').trim().split('\n') : [];
    expect(lines.filter((line) => line.startsWith(`charged ${job.id}`))).toHaveLength(charges);
    expect(await job.status()).toMatchObject({ retryCount: 0 });
    expect(await breachesOf(ground.app, job.id)).toEqual([]);
  });
});

test('GUA-11 a server that is restarted under a remote worker: it goes on by itself, nothing is lost', async () => {
  const url = sqliteUrl();
  const entered: number[] = [];
  const charge = effect({
    name: 'charge',
    run: ({ n }: { n: number }) => {
      entered.push(n);
      return n;
    },
  });
  const job = task({ name: 'job' }, async ({ input, step }) => {
    const n = input as number;
    await step.run('before', () => n);
    await step.effect('charge', charge, { n });
    await step.run('after', () => n);
    return n;
  });
  const open = async (port: number) => {
    const app = await pawl({ store: url });
    return { app, serving: await serve(app, { port, host: '127.0.0.1' }) };
  };
  let server = await open(0);
  onTestFinished(async () => {
    await server.serving.close();
    await server.app.close();
  });
  const { port } = new URL(server.serving.url);
  // Without keys a server takes whoever is on its own machine.
  const worker = await pawl({ store: server.serving.url, tasks: [job] });
  onTestFinished(() => worker.close());
  await worker.work({ ...LEASE, concurrency: 10 });
  const inputs = Array.from({ length: 150 }, (_, n) => n);
  const started = await worker.startMany(
    job,
    inputs.map((input) => ({ input })),
  );
  for (let restarts = 0; restarts < 3; restarts++) {
    await expect.poll(() => entered.length, { interval: 5 }).toBeGreaterThan(restarts * 40);
    await server.serving.close();
    await server.app.close();
    server = await open(Number(port));
  }
  const all = started.map(({ job: { id } }) => server.app.job<number>(id));
  expect(await Promise.all(all.map((one) => one.result(RESULT)))).toEqual(inputs);
  expect(entered.toSorted((a, b) => a - b)).toEqual(inputs);
});

test('lost requests and lost replies: no job is stuck, no effect is doubled, no step is recorded twice', async () => {
  const ground = await groundOn(sqliteUrl());
  const proxy = new LossyProxy(ground.serving.url);
  const url = await proxy.open();
  onTestFinished(() => proxy.close());
  const entered: number[] = [];
  const charge = effect({
    name: 'charge',
    run: ({ n }: { n: number }) => {
      entered.push(n);
      return n;
    },
  });
  const ship = task({ name: 'ship' }, ({ input }) => input as number);
  const job = task({ name: 'job' }, async ({ input, step }) => {
    const n = input as number;
    const one = await step.run('one', () => n);
    const two = await step.effect('charge', charge, { n });
    const three = n % 10 === 0 ? await step.call('ship', ship, n) : n;
    return one + two + three;
  });
  const app = await remoteApp(url, { key: await ground.key(), tasks: [job, ship], work: { concurrency: 8 } });
  const inputs = Array.from({ length: 60 }, (_, n) => n);
  const started = await ground.app.startMany(
    job,
    inputs.map((input) => ({ input, options: { tenantId: 'acme' } })),
  );
  const random = prng(11);
  proxy.fate = (path) => {
    if (path.endsWith('/wake-ups')) return random.int(2) === 0 ? 'there' : 'through';
    const drawn = random.int(100);
    return drawn < 8 ? 'there' : drawn < 20 ? 'back' : 'through';
  };
  const ends = await Promise.all(started.map(({ job: handle }) => handle.result(RESULT)));
  expect(ends).toEqual(inputs.map((n) => n * 3));
  expect(entered.toSorted((a, b) => a - b)).toEqual(inputs);
  expect(proxy.lost).toBeGreaterThan(20);
  for (const { job: handle } of started) expect(await breachesOf(ground.app, handle.id)).toEqual([]);
  proxy.fate = () => 'through';
  await app.close();
});

test('JOB-14 tenants are told apart: neither runs, reads, signals nor cancels the other’s jobs', async () => {
  const ground = await groundOn('memory:');
  const runs: string[] = [];
  const seenBy = (who: string) =>
    task({ name: 'job' }, ({ job }) => void runs.push(`${who} ${job.tenantId}`));
  const acme = await remoteApp(ground.serving.url, {
    key: await ground.key('acme'),
    tasks: [seenBy('acme')],
  });
  const evil = await remoteApp(ground.serving.url, {
    key: await ground.key('evil'),
    tasks: [seenBy('evil')],
  });
  const job = seenBy('nobody');
  const started = await Promise.all([
    acme.start(job, null),
    evil.start(job, null),
    ground.app.start(job, null, { tenantId: 'acme' }),
    ground.app.start(job, null, { tenantId: 'third' }),
  ]);
  await Promise.all([0, 2].map((n) => acme.job(started[n]?.job.id ?? '').result(RESULT)));
  await started[1]?.job.result(RESULT);
  expect(runs.toSorted()).toEqual(['acme acme', 'acme acme', 'evil evil']);
  expect(await started[3]?.job.status()).toMatchObject({ status: 'queued' });
  const foreign = evil.job(started[0]?.job.id ?? '');
  for (const ask of [
    () => foreign.status(),
    () => foreign.cancel(),
    () => foreign.signal('go'),
    () => foreign.result(),
  ]) {
    await expect(ask()).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
  }
  await expect(evil.start(job, null, { tenantId: 'acme' })).rejects.toMatchObject({
    code: 'INVALID_COMMAND',
  });
});

test('a key that is revoked, wrong, or a viewer’s works on nothing, and stands in no error', async () => {
  const ground = await groundOn('memory:');
  const viewer = await ground.key('acme', 'viewer');
  const revoked = await ground.key();
  const { engine } = Pawl.inside(ground.app);
  await revokeKey(engine, revoked.split('_')[1] ?? '', { tenantId: 'acme', by: 'operator:test' });
  for (const [key, code] of [
    [viewer, 'FORBIDDEN'],
    [revoked, 'UNAUTHENTICATED'],
    [`${viewer.slice(0, -1)}x`, 'UNAUTHENTICATED'],
    ['nonsense', 'UNAUTHENTICATED'],
  ] as const) {
    const error = await pawl({ store: ground.serving.url, key }).then(
      () => null,
      (thrown: unknown) => thrown as Error,
    );
    expect(error).toMatchObject({ code });
    expect(`${error?.message} ${error?.stack} ${JSON.stringify(error)}`).not.toContain(key);
  }
});
