import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { PawlError } from '../errors.js';
import type { Store } from '../ports/store.js';
import { openDatabase } from '../stores/sqlite/driver.js';
import { fakeClock, Rig, T0 } from '../testkit/index.js';
import { openStore } from './open-store.js';
import { planMigration } from './plan-migration.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-open-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const open = (url: string): Promise<Store> => openStore(url, { clock: fakeClock(T0) });

async function failureOf(promise: Promise<unknown>): Promise<PawlError> {
  return promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: PawlError) => error,
  );
}

describe('opening a store', () => {
  test('memory: and sqlite: with a path', async () => {
    for (const url of ['memory:', `sqlite:${join(folder, 'a.db')}`, `sqlite://${join(folder, 'b.db')}`]) {
      const store = await open(url);
      expect((await store.counts({ tenantId: null })).counts).toEqual({});
      await store.close();
    }
    expect(readdirSync(folder).filter((name) => name.endsWith('.db'))).toEqual(['a.db', 'b.db']);
  });

  test.each(['', 'sqlite:', 'memory:x', 'mysql://localhost/x', '/var/lib/pawl.db', 'SQLITE'])(
    '%j is refused with a code',
    async (url) => {
      expect(await failureOf(open(url))).toMatchObject({
        name: 'PawlError',
        code: 'STORE_URL_INVALID',
        retryable: false,
      });
    },
  );

  test('what was saved is there when the file is opened again', async () => {
    const url = `sqlite:${join(folder, 'again.db')}`;
    const rig = await Rig.start(({ clock }) => openStore(url, { clock }));
    const job = await rig.create('job_again_1');
    await rig.stop();
    const store = await open(url);
    expect((await store.load('job_again_1')).found?.job).toEqual(job);
    await store.close();
  });
});

describe('a store that cannot be used says why, and what to do', () => {
  test('a folder that does not exist', async () => {
    const error = await failureOf(open(`sqlite:${join(folder, 'no', 'such', 'x.db')}`));
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(error.message).toMatch(/cannot open .*x\.db.*Check its address/);
  });

  test('a file that is no database, which is left as it is', async () => {
    const path = join(folder, 'notes.txt');
    writeFileSync(path, 'these are notes, and long enough to have a header of their own '.repeat(20));
    expect(await failureOf(open(`sqlite:${path}`))).toMatchObject({ code: 'STORE_DAMAGED' });
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('the schema of the next release is worked on, that of a later one is left alone', async () => {
    const path = join(folder, 'future.db');
    await (await open(`sqlite:${path}`)).close();
    const change = async (sql: string) => {
      const db = await openDatabase(path);
      db.exec(sql);
      db.close();
    };
    await change('UPDATE schema_version SET version = 2');
    await (await open(`sqlite:${path}`)).close();
    await change('UPDATE schema_version SET version = 99, oldest = 98');
    const error = await failureOf(open(`sqlite:${path}`));
    expect(error).toMatchObject({ code: 'STORE_TOO_NEW' });
    expect(error.message).toBe(
      'the schema is version 99 and works from release schema 98 on; this release knows 1. Upgrade this process.',
    );
  });

  test('without leave to change the schema, one that is missing is reported and not made', async () => {
    const path = join(folder, 'verify.db');
    const verify = () => openStore(`sqlite:${path}`, { clock: fakeClock(T0), migrations: 'verify' });
    const error = await failureOf(verify());
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(error.message).toContain(`there is no database ${path}`);
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, '');
    expect(await failureOf(verify())).toMatchObject({ code: 'STORE_OUTDATED' });
    await (await open(`sqlite:${path}`)).close();
    await (await verify()).close();
  });

  test('a server’s is not taken for a database', async () => {
    for (const work of [open, planMigration])
      expect(await failureOf(work('https://127.0.0.1:1'))).toMatchObject({
        code: 'REMOTE_UNSUPPORTED',
      });
  });

  test('a database that stays locked: the event loop goes on, and the answer is STORE_BUSY', async () => {
    const path = join(folder, 'locked.db');
    const clock = fakeClock(T0);
    const rig = await Rig.start(() => openStore(`sqlite:${path}`, { clock }));
    const item = await rig.prepare('job_locked_1', rig.createCommand('job_locked_1'));
    const other = await openDatabase(path);
    other.exec('BEGIN IMMEDIATE');
    const failure = failureOf(rig.store.commit([item]));
    while (clock.pending === 0) await new Promise(setImmediate);
    for (let waited = 0; waited <= 10_000; waited += 3) {
      clock.advance(3);
      await new Promise(setImmediate);
    }
    expect(await failure).toMatchObject({ code: 'STORE_BUSY', retryable: true });
    other.exec('ROLLBACK');
    expect((await rig.store.commit([item])).replies).toEqual([{ ok: true, repeated: false }]);
    other.close();
    await rig.stop();
  });
});
