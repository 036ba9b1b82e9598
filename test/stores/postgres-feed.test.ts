import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/client/open-store.js';
import { systemClock } from '../../src/client/system-clock.js';
import { pawl, task } from '../../src/index.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { command, Rig } from '../../src/testkit/index.js';
import { ask, startPostgres, waitsForLock, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const RATE = { name: 'rate', limit: 10, perMs: 1_000 };

/** A store, and how to hold up a claim between the moment when it gets its number and that when it looks for jobs. */
async function ground() {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const locker = new pg.Client({ connectionString: url });
  await locker.connect();
  onTestFinished(async () => {
    await locker.end();
    await rig.stop();
  });
  // The rate is written down by the first claim; whoever holds its row holds up the next.
  await rig.claim('worker-a', { rate: RATE });
  const claimDuring = async (meanwhile: () => Promise<unknown>) => {
    await locker.query("BEGIN; SELECT 1 FROM pawl.records WHERE kind = 'rate' FOR UPDATE");
    const claimed = rig.claim('worker-a', { rate: RATE });
    await waitsForLock(url);
    await meanwhile();
    await locker.query('COMMIT');
    return (await claimed).jobs;
  };
  const revs = async (jobId: string) => {
    const { rows } = await rig.store.feed({ after: null, limit: 1_000 });
    return rows.filter((row) => row.jobId === jobId).map(({ rev }) => rev);
  };
  return { url, rig, claimDuring, revs };
}

test('the feed shows a start before its claim, although the claim had begun before the start', async () => {
  const { rig, claimDuring, revs } = await ground();
  const [job] = await claimDuring(() => rig.create('job_late'));
  expect(job?.spec.jobId).toBe('job_late');
  expect(await revs('job_late')).toEqual([1, 2]);
});

test('the feed shows that a job was given up before its next claim, although that had begun before', async () => {
  const { rig, claimDuring, revs } = await ground();
  const { attemptId } = await rig.running('job_drained');
  const interrupt = command('interrupt', { attemptId: attemptId ?? '', cause: { reason: 'drained' } });
  const [job] = await claimDuring(() => rig.give('job_drained', interrupt));
  expect(job?.rev).toBe(4);
  expect(await revs('job_drained')).toEqual([1, 2, 3, 4]);
});

test('the feed shows a step before a transaction that was recorded after it, although that had written before', async () => {
  const { rig, revs } = await ground();
  const { attemptId } = await rig.running('job_steps');
  const record = (step: string) => command('record-step', { attemptId: attemptId ?? '', step });
  const transaction = await rig.store.begin();
  await (transaction.tx as pg.ClientBase).query('CREATE TABLE written ()');
  await rig.give('job_steps', record('beside'));
  await transaction.commit(await rig.prepare('job_steps', record('transaction')));
  await rig.give('job_steps', record('behind'));
  expect(await revs('job_steps')).toEqual([1, 2, 3, 4, 5]);
});

test('what was numbered by another cluster, whose dump was restored, does not hold back what comes after it', async () => {
  const { url, rig, revs } = await ground();
  await rig.create('job_restored');
  for (const [table, xid] of [
    ['jobs', 'created_xid'],
    ['created', 'xid'],
  ]) {
    await ask(url, `UPDATE pawl.${table} SET ${xid} = (${xid}::text::bigint + 1000000000)::text::xid8`);
  }
  expect((await rig.claim('worker-a')).jobs).toHaveLength(1);
  expect(await revs('job_restored')).toEqual([2]);
  expect((await rig.store.feedHeldBack()).since).toBe(null);
});

test('G5 a transaction that stays open holds up no start, claim or end; once it has a number the feed waits for it, and then has everything', async () => {
  const url = await server.createDatabase();
  const job = task({ name: 'job' }, ({ step }) => step.run('step', () => 1));
  const app = await pawl({ store: url, tasks: [job] });
  await app.work({ stopOnSignal: false });
  const store = await openStore(url, { clock: systemClock });
  const open = new pg.Client({ connectionString: url });
  await open.connect();
  onTestFinished(async () => {
    await open.end();
    await store.close();
    await app.close();
  });

  const ids: string[] = [];
  const runSome = async () => {
    const inputs = Array.from({ length: 150 }, () => ({ input: null }));
    const started = await app.startMany(job, inputs);
    await Promise.all(started.map((one) => one.job.result({ timeout: '200s' })));
    ids.push(...started.map((one) => one.job.id));
  };
  const fed = new Map<string, number[]>();
  let after: string | null = null;
  /** Goes on where it was, as a reader of the feed does. */
  const read = async () => {
    for (;;) {
      const { rows } = await store.feed({ after, limit: 100 });
      if (rows.length === 0) return [...fed.keys()].toSorted();
      for (const { jobId, rev } of rows) fed.set(jobId, [...(fed.get(jobId) ?? []), rev]);
      after = rows.at(-1)?.position ?? null;
    }
  };

  // What it has seen is kept for it, index entries of jobs that were claimed since among it.
  await open.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pawl.jobs');
  await runSome();
  const first = ids.toSorted();
  await expect.poll(read).toEqual(first);
  expect((await store.feedHeldBack()).since).toBe(null);
  await open.query('SELECT pg_current_xact_id()');
  await runSome();
  expect(await read()).toEqual(first);
  // Since one of those was created that were started after it had begun: which of them came first is the server's choice.
  const held = await Promise.all(ids.slice(150).map((id) => app.job(id).status()));
  expect(held.map(({ createdAt }) => createdAt)).toContain((await store.feedHeldBack()).since);
  expect((await app.counts()).succeeded).toBe(ids.length);
  await open.query('COMMIT');
  // Every commit of every job, in order, once.
  const logged = await Promise.all(
    ids.map(async (jobId): Promise<[string, number[]]> => {
      const { rows } = await store.log(jobId, { fromRev: 1, limit: 100 });
      return [jobId, rows.map(({ rev }) => rev)];
    }),
  );
  await expect.poll(() => read().then(() => fed)).toEqual(new Map(logged));
});
