import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { Rig } from '../../src/testkit/index.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** A store, an application with its transaction open, and another that holds a key in its own. */
async function ground() {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const [app, rival] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([app.connect(), rival.connect()]);
  onTestFinished(async () => {
    await Promise.all([app.end(), rival.end()]);
    await rig.stop();
  });
  const start = (jobId: string, value = jobId) =>
    rig.prepare(jobId, rig.createCommand(jobId), { identities: [{ tenantId: 'acme', kind: 'key', value }] });
  await rival.query('BEGIN');
  await rig.store.commitWithin(rival, [await start('job_rival', 'taken')]);
  await app.query('CREATE TABLE orders (id int)');
  await app.query("BEGIN; SET LOCAL lock_timeout = '777ms'; INSERT INTO orders VALUES (1)");
  const isThere = async (jobId: string) => (await rig.store.load(jobId)).found !== null;
  return { rig, app, rival, start, isThere };
}

const patience = async (client: pg.Client): Promise<unknown> =>
  (await client.query('SHOW lock_timeout')).rows[0];

test('a start that waits in vain is STORE_BUSY, and leaves the application’s transaction as it was', async () => {
  const { rig, app, start, isThere } = await ground();
  const items = [await start('job_first'), await start('job_late', 'taken')];
  await expect(rig.store.commitWithin(app, items)).rejects.toMatchObject({
    code: 'STORE_BUSY',
    retryable: true,
    message: expect.stringContaining('one of these jobs, or its key'),
  });
  expect(await patience(app)).toEqual({ lock_timeout: '777ms' });
  await app.query('SAVEPOINT mine');
  await expect(app.query('RELEASE SAVEPOINT pawl_start')).rejects.toMatchObject({ code: '3B001' });
  await app.query('ROLLBACK TO SAVEPOINT mine');
  await app.query('COMMIT');
  expect((await app.query('SELECT id FROM orders')).rows).toEqual([{ id: 1 }]);
  expect([await isThere('job_first'), await isThere('job_late')]).toEqual([false, false]);
});

test('a start that succeeds, or is refused, leaves nothing of its own behind but the job', async () => {
  const { rig, app, rival, start, isThere } = await ground();
  await rival.query('COMMIT');
  const { replies } = await rig.store.commitWithin(app, [
    await start('job_first'),
    await start('job_late', 'taken'),
  ]);
  expect(replies).toEqual([
    { ok: true, repeated: false },
    { ok: false, code: 'IDENTITY_TAKEN', owners: ['job_rival'] },
  ]);
  expect(await patience(app)).toEqual({ lock_timeout: '777ms' });
  await app.query('SAVEPOINT mine');
  await expect(app.query('RELEASE SAVEPOINT pawl_start')).rejects.toMatchObject({ code: '3B001' });
  await app.query('ROLLBACK TO SAVEPOINT mine');
  await app.query('COMMIT');
  expect([await isThere('job_first'), await isThere('job_late')]).toEqual([true, false]);
});
