import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Pawl, pawl, task } from '../../src/index.js';
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

type Asking = { query: (...asked: readonly unknown[]) => Promise<unknown> };

/** A client of another copy of the driver, as far as its errors show that. */
const ofAnotherDriver = (client: pg.Client): Asking => ({
  query: (...asked) =>
    (client as unknown as Asking).query(...asked).catch(({ message, severity, code }: pg.DatabaseError) => {
      throw Object.assign(new Error(message), { severity, code });
    }),
});

test('GUA-11 a start in a transaction that has failed, or was ended meanwhile, is told so: the store is well', async () => {
  const { rig, app, start, isThere } = await ground();
  await expect(app.query('SELECT nothing')).rejects.toMatchObject({ code: '42703' });
  for (const tx of [app, ofAnotherDriver(app)]) {
    await expect(rig.store.commitWithin(tx, [await start('job_first')])).rejects.toMatchObject({
      code: 'TX_UNSUPPORTED',
      retryable: false,
      message: expect.stringMatching(/^a statement of the transaction that was given as `tx` has failed/),
    });
  }
  await app.query('ROLLBACK; BEGIN');
  const item = await start('job_second');
  const [starting] = await Promise.allSettled([rig.store.commitWithin(app, [item]), app.query('ROLLBACK')]);
  expect(starting).toMatchObject({ reason: { code: 'TX_UNSUPPORTED' } });
  expect([await isThere('job_first'), await isThere('job_second')]).toEqual([false, false]);
});

test('GUA-11 a job whose id no store can hold is not found, and the store is not called down', async () => {
  const said: unknown[] = [];
  const tell = (...words: readonly unknown[]): void => void said.push(words);
  const log = { debug: tell, info: tell, warn: tell, error: tell };
  const pawled = await pawl({ store: await server.createDatabase(), log });
  onTestFinished(() => pawled.close());
  await expect(pawled.job('a\0b').status()).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
  const { store } = Pawl.inside(pawled).engine;
  await expect(store.effects('a\0b')).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  expect(said).toEqual([]);
});

test('RUN-3 a key that was used before in the same open transaction finds the job that it started there', async () => {
  const url = await server.createDatabase();
  const tx = new pg.Client({ connectionString: url });
  const app = await pawl({ store: url });
  await tx.connect();
  onTestFinished(async () => {
    await tx.end();
    await app.close();
  });
  const greet = task({ name: 'greet' }, () => null);
  const start = (input: string, idempotencyKey: string) => app.start(greet, input, { tx, idempotencyKey });
  await tx.query('BEGIN');
  const first = await start('ada', 'hello');
  expect(await start('ada', 'hello')).toMatchObject({ idempotentHit: true, job: { id: first.job.id } });
  const twice = { input: 'bob', options: { idempotencyKey: 'bye' } };
  const started = await app.startMany(greet, [twice, twice], { tx });
  expect(started.map(({ idempotentHit }) => idempotentHit)).toEqual([false, true]);
  await expect(start('eve', 'hello')).rejects.toMatchObject({
    code: 'DUPLICATE',
    details: { jobId: first.job.id, conflictFields: ['input'] },
  });
  await tx.query('COMMIT');
  expect(await first.job.status()).toMatchObject({ status: 'queued' });
});
