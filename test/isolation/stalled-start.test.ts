import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { fakeClock, T0 } from '../../src/testkit/index.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { until } from './ground.js';
import { keyedStart, send } from './keyed-start.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
});

/** Far above the 200 ms that a group of commits waits for someone else's row. */
const LONG_MS = 2_000;

/** What an application has started within a transaction that stays open: its key, or its id, is not free for others. */
const TAKEN = {
  key: keyedStart('job_waits_for_key', 'open'),
  'job id': keyedStart('job_open', 'another'),
};

describe('Postgres: an application’s open transaction', () => {
  test.each(Object.entries(TAKEN))('on one %s does not stall other starts', async (_, rival) => {
    const url = await server.createDatabase();
    const store = await postgresStore({ url, clock: fakeClock(T0), now: () => T0 });
    const application = new pg.Client({ connectionString: url });
    const watcher = new pg.Client({ connectionString: url });
    await Promise.all([application.connect(), watcher.connect()]);
    await application.query('BEGIN');
    await store.commitWithin(application, [keyedStart('job_open', 'open')]);

    // They are sent together, so they share a group, which must go on without the one that has to wait.
    const waits = send(store, rival);
    let started = false;
    const other = send(store, keyedStart('job_other', 'free')).finally(() => (started = true));
    const giveUpAt = Date.now() + LONG_MS;
    await until(async () => {
      await watcher.query('SELECT 1');
      return started || Date.now() > giveUpAt;
    }, 'the other start has ended');
    const wasStarted = started;
    await application.query('COMMIT');
    await Promise.all([application.end(), watcher.end()]);
    expect(await other).toEqual({ ok: true, repeated: false });
    expect(await waits).toMatchObject({ ok: false });
    await store.close();
    expect(wasStarted, 'the other start was not held up').toBe(true);
  });
});
