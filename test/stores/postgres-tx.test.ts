import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { PawlError } from '../../src/errors.js';
import { pawl, task } from '../../src/index.js';
import type { Store } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { fakeClock, Rig, T0 } from '../../src/testkit/index.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
});

type Bench = { readonly url: string; readonly rig: Rig; readonly app: pg.Client };

/** A store, and an application with a table of its own in the same database. */
async function withApplication(work: (bench: Bench) => Promise<void>): Promise<void> {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const app = new pg.Client({ connectionString: url });
  await app.connect();
  try {
    await app.query('CREATE TABLE orders (id int PRIMARY KEY)');
    await work({ url, rig, app });
  } finally {
    await app.end();
    await rig.stop();
  }
}

const key = (value: string) => ({ tenantId: 'acme', kind: 'key' as const, value });
const start = (rig: Rig, jobId: string, value = jobId) =>
  rig.prepare(jobId, rig.createCommand(jobId), { identities: [key(value)] });
const isThere = async (store: Store, jobId: string) => (await store.load(jobId)).found !== null;
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'it did not fail',
    (error: unknown) => (error instanceof PawlError ? error.code : String(error)),
  );

describe('a start within the application’s own transaction', () => {
  test('becomes visible with it', () =>
    withApplication(async ({ rig, app }) => {
      await app.query('BEGIN');
      await app.query('INSERT INTO orders VALUES (1)');
      const { replies } = await rig.store.commitWithin(app, [await start(rig, 'job_tx_1')]);
      expect(replies).toEqual([{ ok: true, repeated: false }]);
      expect(await isThere(rig.store, 'job_tx_1')).toBe(false);
      expect((await rig.claim('worker-a')).jobs).toEqual([]);
      await app.query('COMMIT');
      expect(await isThere(rig.store, 'job_tx_1')).toBe(true);
      expect((await rig.claim('worker-a')).jobs.length).toBe(1);
    }));

  test('vanishes with it', () =>
    withApplication(async ({ rig, app }) => {
      await app.query('BEGIN');
      await rig.store.commitWithin(app, [await start(rig, 'job_tx_2')]);
      await app.query('ROLLBACK');
      expect(await isThere(rig.store, 'job_tx_2')).toBe(false);
      const again = await rig.store.commit([await start(rig, 'job_tx_2')]);
      expect(again.replies).toEqual([{ ok: true, repeated: false }]);
    }));

  test('one that is refused leaves the rest of the transaction whole', () =>
    withApplication(async ({ rig, app }) => {
      await rig.store.commit([await start(rig, 'job_tx_3', 'taken')]);
      await app.query('BEGIN');
      await app.query('INSERT INTO orders VALUES (3)');
      const { replies } = await rig.store.commitWithin(app, [await start(rig, 'job_tx_4', 'taken')]);
      expect(replies).toEqual([{ ok: false, code: 'IDENTITY_TAKEN', owners: ['job_tx_3'] }]);
      await app.query('COMMIT');
      expect((await app.query('SELECT count(*)::int AS count FROM orders')).rows).toEqual([{ count: 1 }]);
      expect(await isThere(rig.store, 'job_tx_4')).toBe(false);
    }));

  test('an open one on a key stalls no other start', () =>
    withApplication(async ({ rig, app }) => {
      await app.query('BEGIN');
      await rig.store.commitWithin(app, [await start(rig, 'job_tx_5', 'slow')]);
      const rival = rig.store.commit([await start(rig, 'job_tx_6', 'slow')]);
      const others = await Promise.all(
        Array.from({ length: 20 }, async (_, i) => rig.store.commit([await start(rig, `job_free_${i}`)])),
      );
      expect(others.every(({ replies }) => replies[0]?.ok)).toBe(true);
      await app.query('COMMIT');
      expect((await rival).replies).toEqual([{ ok: false, code: 'IDENTITY_TAKEN', owners: ['job_tx_5'] }]);
    }));

  test('a client without one, or something that is no client, is refused and nothing is stored', () =>
    withApplication(async ({ rig, app }) => {
      const item = await start(rig, 'job_tx_7');
      expect(await codeOf(rig.store.commitWithin(app, [item]))).toBe('TX_UNSUPPORTED');
      expect(await codeOf(rig.store.commitWithin({}, [item]))).toBe('TX_UNSUPPORTED');
      expect(await codeOf(memoryStore({ clock: fakeClock(T0) }).commitWithin(app, [item]))).toBe(
        'TX_UNSUPPORTED',
      );
      expect(await isThere(rig.store, 'job_tx_7')).toBe(false);
    }));
});

describe('poolers and wake-ups', () => {
  test('with prepare=false no statement is prepared, and all works', () =>
    withApplication(async ({ url, rig, app }) => {
      const plain = await postgresStore({
        url: `${url}?prepare=false`,
        clock: rig.clock,
        now: () => rig.clock.now(),
      });
      const parse = vi.spyOn(pg.Connection.prototype, 'parse');
      onTestFinished(() => parse.mockRestore());
      const prepared = () => parse.mock.calls.filter(([query]) => Boolean((query as { name?: string }).name));
      // What is prepared elsewhere is noticed.
      const items = [await start(rig, 'job_plain_1'), await start(rig, 'job_plain_2')] as const;
      expect(prepared()).not.toEqual([]);
      parse.mockClear();

      await plain.commit([items[0]]);
      await app.query('BEGIN');
      await plain.commitWithin(app, [items[1]]);
      await app.query('COMMIT');
      const { jobs } = await rig.claim('worker-a', { store: plain });
      expect(jobs.length).toBe(2);
      const lent = await plain.begin();
      await (lent.tx as pg.ClientBase).query('INSERT INTO orders VALUES (1)');
      await lent.rollback();
      await plain.feed({ after: null, limit: 10 });
      await plain.list({ tenantId: null, statuses: null, task: null, limit: 10, cursor: null });
      expect(parse.mock.calls.length).toBeGreaterThan(5);
      expect(prepared()).toEqual([]);
      expect((await app.query('SELECT name FROM pg_prepared_statements')).rows).toEqual([]);
      await plain.close();
    }));

  test('GUA-13 with prepare=false nobody listens, and what another process starts, signals and waits for is found by polling', () =>
    withApplication(async ({ url, app }) => {
      const child = task({ name: 'child' }, ({ input }) => `child of ${String(input)}`);
      const parent = task({ name: 'parent' }, async ({ step }) => {
        await step.sleep('nap', '20ms');
        return step.call('child', child, await step.waitFor<string>('go'));
      });
      const [client, worker] = [
        await pawl({ store: `${url}?prepare=false`, tasks: [] }),
        await pawl({ store: `${url}?prepare=false`, tasks: [parent, child] }),
      ];
      await worker.work({ poll: '50ms', stopOnSignal: false });
      const { job } = await client.start(parent, null);
      await expect.poll(() => job.why()).toMatchObject({ code: 'signal' });
      await job.signal('go', 'two processes');
      expect(await job.result({ timeout: '200s' })).toBe('child of two processes');
      const listening =
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'pawl listener' AND datname = current_database()";
      expect((await app.query(listening)).rows).toEqual([]);
      await Promise.all([client.close(), worker.close()]);
    }));

  test('GUA-13 another process hears of work, and one that lost its connection hears again', () =>
    withApplication(async ({ url, app }) => {
      const real = { after: (ms: number, run: () => void) => (setTimeout(run, ms / 10), () => undefined) };
      const [speaker, hearer] = [
        await postgresStore({ url, clock: real }),
        await postgresStore({ url, clock: real }),
      ];
      const heard: string[] = [];
      const stop = hearer.listen((lanes) => heard.push(...lanes));
      const hears = async (lane: string) => {
        for (let tries = 0; !heard.includes(lane) && tries < 500; tries++) {
          speaker.wake([lane]);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        expect(heard).toContain(lane);
      };
      await hears('first');
      await app.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pawl listener'",
      );
      await hears('second');
      await app.query("SELECT pg_notify('pawl_wake', 'no list at all')");
      await hears('third');
      await stop();
      await Promise.all([speaker.close(), hearer.close()]);
    }));
});
