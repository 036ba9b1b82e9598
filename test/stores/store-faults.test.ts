import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../src/client/open-store.js';
import { PawlError } from '../../src/errors.js';
import { CROWDS } from '../../src/stores/sqlite/crowds.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { fakeClock, Rig, T0, type OpenStore } from '../../src/testkit/index.js';
import { byAThread, withRealWaits } from '../by-a-thread.js';
import { cliOn } from '../cli/in-process.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';
import { smallDisk, type SmallDisk } from './small-disk.js';

const probe = smallDisk(1);
probe?.remove();
const mayMount = probe !== null;

const crowds = await byAThread();
const disks: SmallDisk[] = [];
function aDisk(megabytes: number): SmallDisk {
  const disk = smallDisk(megabytes);
  if (disk === null) throw new Error('a disk cannot be mounted');
  disks.push(disk);
  return disk;
}
afterAll(() => disks.forEach((disk) => disk.remove()));

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
});

const codeOf = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'it did not fail',
    (error: unknown) => (error instanceof PawlError ? error.code : String(error)),
  );

/** Creates jobs until the disk is full. Answers with those that were acknowledged. */
async function fill(rig: Rig): Promise<{ acknowledged: string[]; code: string }> {
  const acknowledged: string[] = [];
  for (let i = 0; i < 100_000; i++) {
    const jobId = `job_fill_${i}`;
    const item = await rig.prepare(jobId, {
      ...rig.createCommand(jobId),
      input: `"${'x'.repeat(60_000)}"`,
    } as never);
    const code = await codeOf(rig.store.commit([item]));
    if (code !== 'it did not fail') return { acknowledged, code };
    acknowledged.push(jobId);
  }
  throw new Error('the disk never filled up');
}

async function survivesAFullDisk(open: OpenStore, ballast: string): Promise<Rig> {
  const rig = await Rig.start(open);
  writeFileSync(ballast, Buffer.alloc(1_500_000));
  const { acknowledged, code } = await fill(rig);
  expect(code).toBe('STORE_FULL');
  expect(acknowledged.length).toBeGreaterThan(0);
  for (const jobId of acknowledged) expect((await rig.load(jobId)).job.status).toBe('queued');
  expect((await rig.store.counts({ tenantId: null })).counts).toEqual({ queued: acknowledged.length });

  rmSync(ballast);
  await rig.create('job_after_1');
  expect((await rig.store.counts({ tenantId: null })).counts).toEqual({ queued: acknowledged.length + 1 });
  return rig;
}

describe.skipIf(!mayMount)('a full disk (needs the right to mount one)', () => {
  test('SQLite says so if not even its tables find room', async () => {
    const { path } = aDisk(1);
    writeFileSync(join(path, 'ballast'), Buffer.alloc(950_000));
    const opening = sqliteStore({ path: join(path, 'pawl.db'), clock: fakeClock(T0) });
    expect(await codeOf(opening)).toBe('STORE_FULL');
  });

  test('GUA-16 pawl doctor notices', async () => {
    const { path } = aDisk(4);
    const store = `sqlite:${join(path, 'pawl.db')}`;
    const open = await openStore(store, { clock: fakeClock(T0) });
    expect(await cliOn(store)('doctor')).toMatchObject({ code: 0 });
    const ballast = join(path, 'ballast');
    expect(() => writeFileSync(ballast, Buffer.alloc(5_000_000))).toThrow('ENOSPC');
    expect(await cliOn(store)('doctor')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/fail +space +STORE_FULL/) as string,
    });
    rmSync(ballast);
    expect(await cliOn(store)('doctor')).toMatchObject({ code: 0 });
    const left = await open.record({ kind: 'reply', tenantId: '', id: 'doctor' });
    expect(left.record).toBeNull();
    await open.close();
  });

  test.each([
    ['SQLite', CROWDS],
    ['SQLite whose new jobs are written by a thread', crowds],
  ])('%s says so, loses nothing that it acknowledged, and goes on once there is room', async (_, when) => {
    const { path } = aDisk(4);
    const file = join(path, 'pawl.db');
    const rig = await survivesAFullDisk(
      ({ clock }) => sqliteStore({ path: file, clock: withRealWaits(clock), crowds: when }),
      join(path, 'ballast'),
    );
    await rig.stop();
    const db = await openDatabase(file);
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    db.close();
  });

  test.skipIf(process.env['PAWL_TEST_POSTGRES_URL'] !== undefined)(
    'Postgres says so, loses nothing that it acknowledged, and goes on once there is room',
    async () => {
      const { path } = aDisk(16);
      const url = await server.createDatabase();
      const name = new URL(url).pathname.slice(1);
      await ask(url, `CREATE TABLESPACE small LOCATION '${server.reachable(path)}'`);
      const other = Object.assign(new URL(url), { pathname: '/postgres' }).toString();
      await ask(other, `ALTER DATABASE ${name} SET TABLESPACE small`);
      const rig = await survivesAFullDisk(
        ({ clock }) => postgresStore({ url, clock, now: () => clock.now() }),
        join(path, 'ballast'),
      );
      await rig.stop();
      await ask(other, `DROP DATABASE ${name} WITH (FORCE)`);
      await ask(other, 'DROP TABLESPACE small');
    },
    120_000,
  );
});

describe('a store that may not be written', () => {
  test.skipIf(!mayMount)('SQLite on a read-only disk (needs the right to mount one)', async () => {
    const [elsewhere, disk] = [aDisk(2), aDisk(2)];
    await (await openStore(`sqlite:${join(elsewhere.path, 'pawl.db')}`, { clock: fakeClock(T0) })).close();
    const file = join(disk.path, 'pawl.db');
    copyFileSync(join(elsewhere.path, 'pawl.db'), file);
    disk.makeReadOnly();
    expect(await codeOf(openStore(`sqlite:${file}`, { clock: fakeClock(T0) }))).toBe('STORE_READ_ONLY');
  });

  test('Postgres as on a standby server', async () => {
    const url = await server.createDatabase();
    const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
    await rig.create('job_before_1');
    await ask(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
    const standby = await postgresStore({ url, clock: rig.clock, migrations: 'verify' });
    const item = await rig.prepare('job_standby_1', rig.createCommand('job_standby_1'));
    expect(await codeOf(standby.commit([item]))).toBe('STORE_READ_ONLY');
    expect((await standby.load('job_before_1')).found?.job.status).toBe('queued');
    await standby.close();
    await rig.stop();
  });
});

describe('a server that does not let us in', () => {
  test.skipIf(process.env['PAWL_TEST_POSTGRES_URL'] !== undefined)('wrong password', async () => {
    const url = await server.createDatabase();
    await ask(url, "CREATE ROLE locked_out LOGIN PASSWORD 'right'");
    const as = (password: string) =>
      Object.assign(new URL(url), { username: 'locked_out', password }).toString();
    const failure = await openStore(as('wrong'), { clock: fakeClock(T0) }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'STORE_ACCESS_DENIED' });
    expect(String(failure)).not.toContain('wrong');
  });

  test('a user who may not create the schema is told to verify, and nothing is half-made', async () => {
    const url = await server.createDatabase();
    await ask(url, 'CREATE ROLE no_ddl LOGIN');
    const limited = Object.assign(new URL(url), { username: 'no_ddl' }).toString();
    const refused = await openStore(limited, { clock: fakeClock(T0) }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'STORE_ACCESS_DENIED' });
    expect(String(refused)).toContain('grant the user the rights on schema pawl');
    await (await openStore(url, { clock: fakeClock(T0) })).close();
    await ask(
      url,
      'GRANT USAGE ON SCHEMA pawl TO no_ddl; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pawl TO no_ddl',
    );
    const store = await openStore(limited, { clock: fakeClock(T0), migrations: 'verify' });
    expect((await store.counts({ tenantId: null })).counts).toEqual({});
    await store.close();
  });
});
