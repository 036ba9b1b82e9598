import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LONG } from '../long-mode.js';
import { readLog } from '../../src/engine/read-log.js';
import type { WorkOptions } from '../../src/index.js';
import type { Event } from '../../src/kernel/index.js';
import { findProblems } from '../../src/matrix/find-problems.js';
import { linesOf, sightings } from '../../src/matrix/witness.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { postgresGround, sqliteGround, type CrashGround } from './crash-ground.js';
import { neighbour, patient, poison, sending, stalled, type Held } from './crash-tasks.js';
import { eventually, WorkerProcess } from './worker-process.js';

const LEASE_MS = 500;
/** Of whoever takes over: it must not lose its own on a busy machine. */
const LONG_LEASE_MS = 3_000;

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** On SQLite the failure matrix and chaos have workers killed as well. */
const stores = [
  { name: 'SQLite', open: () => sqliteGround() },
  { name: 'Postgres', open: () => postgresGround(server) },
] as const;

describe.each(stores.filter(({ name }) => LONG || name === 'Postgres'))('$name', ({ name, open }) => {
  let ground: CrashGround;
  let workers: WorkerProcess[];
  let files: Held & { readonly trace: string };

  beforeEach(async () => {
    ground = await open();
    workers = [];
    const inFolder = (file: string) => join(ground.folder, file);
    files = { witness: inFolder('witness'), release: inFolder('release'), trace: inFolder('trace') };
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    await ground.close();
  });

  async function startWorker(options: WorkOptions, freezeAt: string | null = null): Promise<WorkerProcess> {
    const worker = new WorkerProcess();
    workers.push(worker);
    const armed = { at: freezeAt, by: 'SIGSTOP', trace: `${files.trace}.${workers.length}` } as const;
    await worker.order({ work: ground.url, options: { poll: 20, ...options }, armed });
    return worker;
  }

  /** Not in the middle of a transaction on a file: whoever holds its one lock keeps everybody out, as long as it lives. */
  async function freeze(worker: WorkerProcess): Promise<void> {
    await eventually(() => {
      worker.signal('SIGSTOP');
      if (!ground.isLocked()) return true;
      worker.signal('SIGCONT');
      return null;
    }, 'a worker is frozen between two transactions');
  }

  const release = () => writeFileSync(files.release, '');
  const sighted = (what: string, { pid }: WorkerProcess) =>
    eventually(
      () => sightings(files.witness).find((one) => one.what === what && one.pid === pid) ?? null,
      `process ${pid} says ${what}`,
    );
  const eventsOf = async (jobId: string): Promise<Event[]> =>
    (await readLog(ground.store, jobId)).flatMap(({ events }) => events);
  const claimsOf = async (jobId: string) =>
    (await eventsOf(jobId)).flatMap((event) => (event.type === 'attempt.started' ? [event.worker] : []));
  const interruptsOf = async (jobId: string) =>
    (await eventsOf(jobId)).flatMap((event) => (event.type === 'attempt.interrupted' ? [event.reason] : []));

  /** Stops a worker within a body, for three leases, while another finishes its job; then lets it go on. */
  async function outlive(task: typeof stalled): Promise<{ zombie: WorkerProcess; jobId: string }> {
    const zombie = await startWorker({ lease: LEASE_MS });
    const { job } = await ground.app.start(task, files);
    await sighted('held', zombie);
    await freeze(zombie);
    const stoppedAt = Date.now();
    const other = await startWorker({ lease: LONG_LEASE_MS, queues: ['default'] });
    await sighted('held', other);
    release();
    expect(await job.result({ timeout: '200s' })).toBe(other.pid);
    await eventually(() => (Date.now() - stoppedAt > 3 * LEASE_MS ? true : null), 'three leases have passed');
    await other.kill();
    zombie.signal('SIGCONT');
    await sighted('aborted', zombie);
    return { zombie, jobId: job.id };
  }

  /** It works on, under the same name, as someone new. */
  async function expectReborn({ zombie, jobId }: { zombie: WorkerProcess; jobId: string }): Promise<void> {
    expect(await findProblems(ground.store, jobId)).toEqual([]);
    // A busy machine may have cost it a lease before; it lost the job to that, and to nothing else.
    const losses = await interruptsOf(jobId);
    expect(new Set(losses)).toEqual(new Set(['lease_expired']));
    const before = (await claimsOf(jobId)).slice(0, losses.length);
    const { job } = await ground.app.start(neighbour, files);
    expect(await job.result({ timeout: '200s' })).toBe('unharmed');
    const [after] = await claimsOf(job.id);
    expect(new Set(before.map(({ id }) => id))).toEqual(new Set([after?.id]));
    expect(before.map(({ incarnation }) => incarnation)).not.toContain(after?.incarnation);
    expect(zombie.isGone).toBe(false);
  }

  test('DEC-5 SIGTERM: a worker hands back what does not end in time, at the cost of nothing, and ends by that signal', async () => {
    const worker = await startWorker({ lease: LONG_LEASE_MS, drain: 50 });
    const { job } = await ground.app.start(patient, files);
    await sighted('held', worker);
    worker.signal('SIGTERM');
    await sighted('aborted', worker);
    await eventually(() => (worker.isGone ? true : null), 'it has ended');
    expect(worker.signalCode).toBe('SIGTERM');
    expect(await interruptsOf(job.id)).toEqual(['drained']);
    const other = await startWorker({ lease: LONG_LEASE_MS });
    release();
    expect(await job.result({ timeout: '200s' })).toBe(other.pid);
    expect(await job.status()).toMatchObject({ retryCount: 0, recoveryCount: 0 });
    expect(await findProblems(ground.store, job.id)).toEqual([]);
  });

  test('GUA-2 GUA-10 a worker whose event loop stood still for three leases has its writes refused, is told to stop, and goes on as someone new', async () => {
    const outlived = await outlive(stalled);
    await expectReborn(outlived);
    const refused = linesOf(`${files.trace}.1`).filter((point) => point.includes('step.recorded:hold is '));
    expect(refused).toEqual(['commit step.recorded:hold is REV_TAKEN 1']);
  });

  test('GUA-2 GUA-10 a worker that was frozen within an asynchronous body is told to stop, and what it still writes is refused', async () => {
    const outlived = await outlive(patient);
    await expectReborn(outlived);
    // Whether it wakes first to its body or to its lease is open.
    const trace = linesOf(`${files.trace}.1`);
    const sent = trace.filter((point) => point.startsWith('after commit step.recorded:hold'));
    const refused = trace.filter((point) => point.startsWith('commit step.recorded:hold is REV_TAKEN'));
    expect(refused).toHaveLength(sent.length);
  });

  // On a file nobody can take the lock away from a process that lives, frozen or not.
  test.skipIf(name === 'SQLite')(
    'GUA-10 a worker that was frozen in the middle of a claim keeps nobody from its jobs, and goes on as someone new',
    async () => {
      const zombie = await startWorker({ lease: LEASE_MS }, 'within claim of neighbour 1');
      const { job } = await ground.app.start(neighbour, files);
      const frozen = () => linesOf(`${files.trace}.1`).includes('within claim of neighbour 1');
      await eventually(() => (frozen() ? true : null), 'a worker is frozen');
      const other = await startWorker({ lease: LONG_LEASE_MS });
      expect(await job.result({ timeout: '200s' })).toBe('unharmed');
      await other.kill();
      zombie.signal('SIGCONT');
      const { job: next } = await ground.app.start(neighbour, files);
      expect(await next.result({ timeout: '200s' })).toBe('unharmed');
      for (const { id } of [job, next]) expect(await findProblems(ground.store, id)).toEqual([]);
      expect(await claimsOf(job.id)).toHaveLength(1);
      expect(zombie.isGone).toBe(false);
    },
  );

  test('GUA-4 an effect that still runs in this process is not asked after, although its lease is gone', async () => {
    const worker = await startWorker({ lease: LEASE_MS });
    const { job } = await ground.app.start(sending, files);
    await sighted('entered', worker);
    await freeze(worker);
    // It only cleans up.
    const other = await startWorker({ lease: LONG_LEASE_MS / 2, queues: ['elsewhere'] });
    await eventually(
      async () => ((await job.status()).status === 'interrupted' ? true : null),
      'it is interrupted',
    );
    await other.kill();
    worker.signal('SIGCONT');
    // On a busy machine its first lease may be gone before the body begins: then it is asked after, and not entered until the next.
    const sinceEntered = () => {
      const said = sightings(files.witness).map(({ what }) => what);
      return said.slice(said.indexOf('entered'));
    };
    const saw = () => linesOf(`${files.trace}.1`).includes('after effects 2') || sinceEntered().length > 1;
    await eventually(() => (saw() ? true : null), 'the next attempt has looked for a result twice');
    release();
    expect(await job.result({ timeout: '200s' })).toBe(worker.pid);
    expect(sinceEntered()).toEqual(['entered', 'happened']);
    expect(await findProblems(ground.store, job.id)).toEqual([]);
  });

  test('DEC-2 a job that takes its process down is dead-lettered with the sixth, and its neighbour finishes', async () => {
    const { app, store } = ground;
    await store.pauseQueue({ queue: 'default', paused: true, by: 'test' });
    const { job: bad } = await app.start(poison, files);
    const { job: good } = await app.start(neighbour, files);
    await store.pauseQueue({ queue: 'default', paused: false, by: 'test' });
    let worker = await startWorker({ lease: LEASE_MS });
    await eventually(async () => {
      if (worker.isGone) worker = await startWorker({ lease: LEASE_MS });
      const statuses = [await bad.status(), await good.status()];
      return statuses.every(({ finishedAt }) => finishedAt !== null) ? true : null;
    }, 'both jobs have ended');

    expect(await bad.status()).toMatchObject({ status: 'failed', failure: { code: 'PROCESS_RESTARTED' } });
    expect(await claimsOf(bad.id)).toHaveLength(6);
    expect(await interruptsOf(bad.id)).toHaveLength(6);
    // Each time it was entered a process went with it. A busy machine may cost a claim its lease before it comes to that.
    const swallowed = sightings(files.witness).filter(({ what }) => what === 'swallowed').length;
    expect(swallowed).toBeGreaterThan(3);
    expect(workers.filter(({ signalCode }) => signalCode === 'SIGABRT')).toHaveLength(swallowed);
    expect(await good.status()).toMatchObject({ status: 'succeeded', result: '"unharmed"' });
    const { items } = await store.dlq({ tenantId: null, status: 'open', after: null, limit: 10 });
    expect(items.map(({ jobId }) => jobId)).toEqual([bad.id]);
    for (const { id } of [bad, good]) expect(await findProblems(store, id)).toEqual([]);
  });

  test('DEC-5 a worker that comes back under its set id takes up at once what it held', async () => {
    const options = { workerId: 'warehouse-1', lease: '10m' } as const;
    const before = await startWorker(options);
    const { job } = await ground.app.start(patient, files);
    await sighted('held', before);
    await before.kill();
    const after = await startWorker(options);
    await sighted('held', after);
    release();
    expect(await job.result({ timeout: '200s' })).toBe(after.pid);
    expect(await interruptsOf(job.id)).toEqual(['worker_restarted']);
    expect(await findProblems(ground.store, job.id)).toEqual([]);
  });
});
