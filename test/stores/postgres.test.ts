import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../src/client/open-store.js';
import type { PawlError } from '../../src/errors.js';
import { Pawl, pawl, task } from '../../src/index.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { laneOf } from '../../src/kernel/index.js';
import type { Loaded } from '../../src/ports/store.js';
import { aFailure, aJobSpec, command, fakeClock, Rig, T0 } from '../../src/testkit/index.js';
import { ask, cutConnections, startPostgres, waitsForLock, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
});

const failureOf = async (promise: Promise<unknown>): Promise<PawlError> =>
  promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: PawlError) => error,
  );

describe('Postgres', () => {
  test('the server’s clock is the one that counts', async () => {
    const store = await openStore(await server.createDatabase(), { clock: fakeClock(T0) });
    const { now } = await store.counts({ tenantId: null });
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
    await store.close();
  });

  test('connections that were cut are made anew, and what was sent again is saved once', async () => {
    const url = await server.createDatabase();
    const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
    for (let i = 0; i < 5; i++) {
      const item = await rig.prepare(`job_cut_${i}`, rig.createCommand(`job_cut_${i}`));
      const [, reply] = await Promise.all([cutConnections(url), rig.store.commit([item])]);
      expect(reply.replies[0]?.ok).toBe(true);
      expect((await rig.store.commit([item])).replies).toEqual([{ ok: true, repeated: true }]);
    }
    expect((await rig.store.counts({ tenantId: null })).counts).toEqual({ queued: 5 });
    await rig.stop();
  });

  test('what claims lock to count a concurrency key goes with its jobs, unless it is locked', async () => {
    const url = await server.createDatabase();
    const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    const gates = async () => (await other.query('SELECT gate FROM pawl.gates')).rowCount;
    for (const n of [1, 2]) await rig.create(`job_gate_${n}`, { concurrencyKey: `customer ${n}` });
    const { jobs } = await rig.claim('worker-a', { keyLimit: 1 });
    expect([jobs.length, await gates()]).toEqual([2, 2]);
    for (const { spec, attemptId } of jobs) {
      await rig.give(spec.jobId, command('complete', { attemptId: attemptId ?? '' }));
    }
    await other.query('BEGIN');
    await other.query("SELECT 1 FROM pawl.gates WHERE gate LIKE '%customer 2%' FOR UPDATE");
    const purged = jobs.map(({ spec }) => ({ jobId: spec.jobId, guard: null }));
    expect((await rig.store.purge({ jobs: purged, identityTtlMs: 0 })).jobs).toBe(2);
    await other.query('COMMIT');
    expect(await gates()).toBe(1);
    await rig.create('job_gate_3', { concurrencyKey: 'customer 1' });
    expect((await rig.claim('worker-a', { keyLimit: 1 })).jobs).toHaveLength(1);
    await other.end();
    await rig.stop();
  });

  test('GUA-4 a result whose job is locked waits alone: those that came with it, and commits, do not', async () => {
    const url = await server.createDatabase();
    const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
    const locked = Array.from({ length: 6 }, (_, n) => `job_locked_${n}`);
    for (const jobId of ['job_free', ...locked]) await rig.create(jobId);
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query("BEGIN; SELECT 1 FROM pawl.jobs WHERE job_id <> 'job_free' FOR UPDATE");
    const put = (jobId: string) =>
      rig.store.putEffect({ jobId, step: 'charge', occurrence: 1, entry: 1, result: '1' });
    let waiting = locked.length;
    const late = locked.map((jobId) => put(jobId).finally(() => (waiting -= 1)));
    const free = put('job_free');
    expect((await free).first).toBe(true);
    await rig.give('job_free', command('cancel'));
    expect(waiting).toBe(locked.length);
    await other.query('COMMIT');
    expect((await Promise.all(late)).every(({ first }) => first)).toBe(true);
    await other.end();
    await rig.stop();
  });

  test('GUA-11 what cannot be read, of a request or of a job, harms nobody who asks at the same time, and is no outage', async () => {
    const url = await server.createDatabase();
    const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
    for (const jobId of ['job_sound', 'job_spoilt']) await rig.create(jobId);
    await ask(url, "UPDATE pawl.jobs SET first_body = '[]' WHERE job_id = 'job_spoilt'");
    const [bad, load, log, inbox] = await Promise.all([
      Promise.allSettled([
        rig.store.load('job_spoilt'),
        rig.store.log('job_sound', { fromRev: 2 ** 40, limit: 10 }),
        rig.store.inbox('no\0job'),
        rig.store.effects('no\0job'),
      ]),
      rig.store.load('job_sound'),
      rig.store.log('job_sound', { fromRev: 1, limit: 10 }),
      rig.store.inbox('job_sound'),
    ]);
    expect(bad).toMatchObject([
      { reason: { code: 'EVENT_UNREADABLE' } },
      ...Array.from({ length: 3 }, () => ({ reason: { code: 'INVALID_OPTION', retryable: false } })),
    ]);
    expect([load.found?.job.rev, log.rows.length, inbox.messages.length]).toEqual([1, 1, 0]);
    const [none, sound] = await Promise.all([rig.store.load('no\0job'), rig.store.load('job_sound')]);
    expect([none.found, sound.found?.job.rev]).toEqual([null, 1]);
    await rig.stop();
  });

  test('GUA-10 a heartbeat does not wait behind reads that take long', async () => {
    const url = await server.createDatabase();
    const store = await openStore(url, { clock: fakeClock(T0) });
    const worker = { id: 'w', incarnation: 'w.1' };
    const beat = () => store.beat({ worker, leaseMs: 1_000, lanes: [] });
    await beat();
    const locker = new pg.Client({ connectionString: url });
    await locker.connect();
    await locker.query('BEGIN; LOCK TABLE pawl.dlq_items');
    const reads = Array.from({ length: 20 }, () => store.dlqOpen());
    expect(await beat()).toMatchObject({ alive: true });
    await locker.query('COMMIT');
    await Promise.all(reads);
    await locker.end();
    await store.close();
  });

  test('a claim that began before its queue was paused takes nothing that was started after', async () => {
    const url = await server.createDatabase();
    const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
    const rate = { name: 'rate', limit: 10, perMs: 1_000 };
    // The rate is written down by the first claim; whoever holds its row holds up the next, after it has read what is paused.
    await rig.claim('worker-a', { rate });
    const locker = new pg.Client({ connectionString: url });
    await locker.connect();
    await locker.query("BEGIN; SELECT 1 FROM pawl.records WHERE kind = 'rate' FOR UPDATE");
    const claimed = rig.claim('worker-a', { rate });
    await waitsForLock(url);
    const item = await rig.prepare('job_paused_1', rig.createCommand('job_paused_1'));
    await rig.store.pauseQueue({ queue: item.job?.spec.queue ?? '', paused: true, by: 'ann' });
    await rig.store.commit([item]);
    await locker.query('COMMIT');
    expect((await claimed).jobs).toEqual([]);
    await locker.end();
    await rig.stop();
  });

  test('several processes may migrate at once', async () => {
    const url = await server.createDatabase();
    const stores = await Promise.all(
      Array.from({ length: 5 }, () => openStore(url, { clock: fakeClock(T0) })),
    );
    await Promise.all(stores.map((store) => store.close()));
    const again = await openStore(url, { clock: fakeClock(T0) });
    expect((await again.counts({ tenantId: null })).counts).toEqual({});
    await again.close();
  });

  test.each([3, 60])(
    'of %d jobs that another process saved, a claim decides on what they are',
    async (count) => {
      const url = await server.createDatabase();
      const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
      const { attemptId } = await rig.running('job_retried');
      const failed = { now: rig.clock.now(), attemptId: attemptId ?? '', failure: aFailure };
      await rig.give('job_retried', command('fail-attempt', failed));
      const large = { ...rig.createCommand('job_large'), input: JSON.stringify('x'.repeat(20_000)) };
      await rig.give('job_large', large);
      for (let n = 2; n < count; n++) await rig.create(`job_plain_${n}`);
      rig.clock.advance(86_400_000);
      const ids = [
        'job_retried',
        'job_large',
        ...Array.from({ length: count - 2 }, (_, n) => `job_plain_${n + 2}`),
      ];
      const stored = await Promise.all(ids.map((jobId) => rig.load(jobId)));

      const other = await rig.connect('other');
      const worker = rig.worker('worker-b');
      await other.beat({ worker, leaseMs: 30_000, lanes: [] });
      // The second time it knows that nothing of this is remembered, and reads them with the search.
      for (let time = 0; time < 2; time++) {
        const seen = new Map<string, Loaded>();
        const lanes = [{ lane: laneOf(aJobSpec()), keyLimit: null }];
        const decide = (found: Loaded) => {
          seen.set(found.job.spec.jobId, found);
          return null;
        };
        await other.claim({ worker, lanes, limit: 100, afterTenant: '', decide });
        expect(ids.map((jobId) => seen.get(jobId))).toEqual(stored);
      }
      await rig.stop();
    },
  );

  test('a list goes through thousands of jobs page by page, and finds the one among them that fits', async () => {
    const noop = task({ name: 'noop' }, () => null);
    const app = await pawl({ store: await server.createDatabase(), tasks: [noop] });
    const { store } = Pawl.inside(app).engine;
    const { job: rare } = await app.start(noop, null, { tenantId: 'globex' });
    const made: string[] = [];
    for (let group = 0; group < 11; group++) {
      const some = Array.from({ length: 1_000 }, () => ({ input: null }));
      made.push(...(await app.startMany(noop, some)).map(({ job }) => job.id));
    }
    const filter = { tenantId: null, statuses: null, task: null, limit: 1_000 };
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await store.list({ ...filter, cursor: cursor === '' ? null : cursor });
      seen.push(...page.rows.map(({ jobId }) => jobId));
      cursor = page.next;
    }
    expect(seen.at(-1)).toBe(rare.id);
    expect(seen.toSorted()).toEqual([...made, rare.id].toSorted());
    const { rows } = await store.list({ ...filter, tenantId: 'globex', cursor: null });
    expect(rows.map(({ jobId }) => jobId)).toEqual([rare.id]);
    await app.close();
  });

  test('the schema of the next release is worked on, that of a later one is left alone', async () => {
    const url = await server.createDatabase();
    const open = () => openStore(url, { clock: fakeClock(T0) });
    await (await open()).close();
    await ask(url, 'UPDATE pawl.schema_version SET version = 2');
    await (await open()).close();
    await ask(url, 'UPDATE pawl.schema_version SET version = 99, oldest = 98');
    expect(await failureOf(open())).toMatchObject({ code: 'STORE_TOO_NEW' });
  });

  test('without leave to change the schema, one that is missing is reported and not made', async () => {
    const url = await server.createDatabase();
    const verify = () => openStore(url, { clock: fakeClock(T0), migrations: 'verify' });
    expect(await failureOf(verify())).toMatchObject({ code: 'STORE_OUTDATED' });
    await expect(ask(url, 'SELECT 1 FROM pawl.jobs')).rejects.toThrow('does not exist');
    await (await openStore(url, { clock: fakeClock(T0) })).close();
    await (await verify()).close();
  });

  test('a server that is not there, and a database that does not exist', async () => {
    const open = (url: string) => failureOf(openStore(url, { clock: fakeClock(T0) }));
    expect(await open('postgres://postgres@127.0.0.1:1/x')).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: true,
    });
    // A socket in the file system, whose server is just being restarted; and a name that is not known.
    for (const url of [
      'postgres://localhost/x?host=/tmp/no_such_folder',
      'postgres://postgres@nowhere.invalid/x',
    ])
      expect(await open(url)).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    const missing = (await server.createDatabase()).replace(/\/[^/]*$/, '/no_such_database');
    const error = await open(missing);
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(error.message).toMatch(/no_such_database.*Check its address/);
  });
});
