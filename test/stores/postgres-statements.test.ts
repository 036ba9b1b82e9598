import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../src/matrix/eventually.js';
import { TcpProxy } from '../../src/matrix/tcp-proxy.js';
import { binaryArray } from '../../src/stores/postgres/binary-array.js';
import { Session } from '../../src/stores/postgres/session.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { behindPooler } from './behind-pooler.js';
import { LossyWay } from './lossy-way.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** With as little patience as is told, over a network that can be made silent. */
async function sessionOf({ silenceMs = 5_000, prepare = true, pooler = false, query = '' } = {}) {
  const database = await server.createDatabase();
  const url = new URL(pooler ? await behindPooler(database) : database);
  url.search = query;
  const proxy = new TcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(await proxy.open());
  url.searchParams.set('silence_ms', String(silenceMs));
  if (!prepare) url.searchParams.set('prepare', 'false');
  const session = new Session({ url: url.toString() });
  onTestFinished(async () => {
    await session.close();
    await proxy.close();
  });
  return { session, proxy };
}

const TEXTS = ['', "it's", 'a "word"', 'back\\slash', '{braces},', 'ünï — 🦀', 'NULL', 'line\nline', ' '];

test.each([true, false])(
  'values arrive as they were given, whether a connection knows the statement or not (prepared: %s)',
  async (prepare) => {
    const { session } = await sessionOf({ prepare });
    const values = [
      'ünï "quoted" \\ 🦀',
      42,
      null,
      true,
      2 ** 40,
      TEXTS,
      [3, null, -5],
      binaryArray('text', TEXTS),
      [],
      1.5,
      binaryArray('int', [3, null, -5, 2 ** 31 - 1, -(2 ** 31)]),
      binaryArray('bigint', [2 ** 40, null, -1, 2 ** 31, 2 ** 32 - 1, -(2 ** 40) - 5, 1_794_912_739_151]),
    ];
    const echo = () =>
      session.single.rows(
        `SELECT $1::text AS text, $2::int AS whole, $3::text AS nothing, $4::boolean AS yes, $5::bigint AS time,
         $6::text[] AS texts, $7::int[] AS numbers, $8::text[] AS packed, $9::text[] AS none, $10::float8 AS part,
         $11::int[]::text AS ints, $12::bigint[]::text AS times`,
        values,
      );
    const arrived = {
      text: values[0],
      whole: 42,
      nothing: null,
      yes: true,
      time: 2 ** 40,
      texts: TEXTS,
      numbers: [3, null, -5],
      packed: TEXTS,
      none: [],
      part: 1.5,
      ints: '{3,NULL,-5,2147483647,-2147483648}',
      times: '{1099511627776,NULL,-1,2147483648,4294967295,-1099511627781,1794912739151}',
    };
    for (let times = 0; times < 3; times++) expect(await echo()).toEqual([arrived]);
  },
);

describe('a notice right behind a statement', () => {
  const ONE = 'SELECT 1 AS one';
  const noticeOf = (sql: string) => {
    let losses = 0;
    const notice = { asked: { sql, values: [] }, lost: () => void (losses += 1) };
    return { notice, losses: () => losses };
  };

  test.each([false, true])('is nothing that anybody waits for (behind a pooler: %s)', async (pooler) => {
    const { session } = await sessionOf({ pooler });
    const LOCK = 'SELECT pg_advisory_xact_lock(7)';
    const { notice, losses } = noticeOf(LOCK);
    await session.transaction(async (db) => {
      await db.rows(LOCK);
      expect(await session.listedWith(notice).rows(ONE)).toEqual([{ one: 1 }]);
    });
    await session.transaction((db) => db.rows(LOCK));
    expect(losses()).toBe(0);
  });

  test.each([
    ['fails', 'SELECT 1 / 0'],
    ['takes its connection down', 'SELECT pg_terminate_backend(pg_backend_pid())'],
  ])('that %s is told to be lost, and nothing else is', async (_, sql) => {
    const { session } = await sessionOf();
    for (let times = 1; times <= 3; times++) {
      const { notice, losses } = noticeOf(sql);
      expect(await session.listedWith(notice).rows(ONE)).toEqual([{ one: 1 }]);
      await expect.poll(losses).toBe(1);
      expect(await session.listed.rows(ONE)).toEqual([{ one: 1 }]);
    }
  });

  test('goes out although the statement fails', async () => {
    const { session } = await sessionOf();
    const { notice, losses } = noticeOf('CREATE TABLE noticed ()');
    const isThere = () => session.listed.rows("SELECT to_regclass('noticed') IS NOT NULL AS there");
    await expect(session.listedWith(notice).rows('SELECT 1 / 0')).rejects.toThrow('division by zero');
    await expect.poll(isThere).toEqual([{ there: true }]);
    expect(losses()).toBe(0);
  });
});

test('a kind of value that only the driver knows how to send is sent by it', async () => {
  const { session } = await sessionOf();
  const when = new Date(86_400_000);
  const ask = () =>
    session.single.rows("SELECT to_char($1::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day", [when]);
  for (let times = 0; times < 2; times++) expect(await ask()).toEqual([{ day: '1970-01-02' }]);
});

test('a statement that is asked again before its first answer, one without rows, and one with many', async () => {
  const { session } = await sessionOf();
  await session.single.rows('CREATE TABLE t (n int PRIMARY KEY)');
  const insert = 'INSERT INTO t VALUES ($1)';
  const [, , , , found] = await session.transaction((db) =>
    Promise.all([
      db.rows(insert, [1]),
      db.rows(insert, [2]),
      db.rows(insert, [3]),
      db.rows('SELECT n FROM t WHERE n > $1', [9]),
      db.rows('SELECT n FROM t ORDER BY n'),
    ]),
  );
  expect(found).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  expect(await session.single.rows('SELECT n FROM t WHERE n > $1', [2])).toEqual([{ n: 3 }]);
  expect(await session.single.rows(insert, [4])).toEqual([]);
});

test('a statement that fails, known or not, says why, and is asked again on the same connection', async () => {
  const { session } = await sessionOf();
  const divide = (by: number) => session.single.rows<{ n: number }>('SELECT 6 / $1::int AS n', [by]);
  const failing = {
    code: 'INVALID_OPTION',
    message: expect.stringContaining('division by zero') as string,
  };
  await expect(divide(0)).rejects.toMatchObject(failing);
  expect(await divide(2)).toEqual([{ n: 3 }]);
  await expect(divide(0)).rejects.toMatchObject(failing);
  expect(await divide(3)).toEqual([{ n: 2 }]);
  const undone = session.transaction(async (db) => {
    await db.rows('CREATE TABLE gone (n int)');
    await db.rows('SELECT 6 / $1::int AS n', [0]);
  });
  await expect(undone).rejects.toMatchObject(failing);
  expect(await session.single.rows("SELECT to_regclass('gone') AS gone")).toEqual([{ gone: null }]);
});

const pidOf = async (session: Session): Promise<number | undefined> =>
  (await session.single.rows<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * That a connection outlives a pause, and which process is at its other end. A busy machine may be silent for too long itself,
 * which costs a connection, too: what is lost to the pause is lost to every one.
 */
function outlasting(session: Session, ms: number): Promise<number> {
  const aroundPause = async () => {
    const before = await pidOf(session);
    await pause(ms);
    return (await pidOf(session)) === before ? (before ?? null) : null;
  };
  return eventually(() => aroundPause().catch(() => null), `a connection outlives ${ms} ms`);
}

test('GUA-11 a connection that was quiet for long, with nothing to answer, is used; once it is silent it is given up', async () => {
  const { session, proxy } = await sessionOf({ silenceMs: 300 });
  const pid = await outlasting(session, 900);
  await pause(900);
  proxy.become('black hole');
  await expect(pidOf(session)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  proxy.become('open');
  await expect.poll(() => pidOf(session)).not.toBe(pid);
});

test('GUA-11 behind a pooler, too, the first silence gives up all connections that were quiet', async () => {
  const way = await LossyWay.to(await behindPooler(await server.createDatabase()));
  const session = new Session({ url: `${way.url}?silence_ms=500` });
  onTestFinished(() => session.close());
  const ask = () => session.listed.rows<{ n: number }>('SELECT 1 AS n');
  await expect.poll(() => Promise.all(Array.from({ length: 4 }, ask))).toHaveLength(4);
  expect(way.lose()).toBe(4);
  await expect.poll(ask).toEqual([{ n: 1 }]);
  expect(way.askedInVain).toBe(1);
});

test('a bound that the address sets on every query ends with its answer', async () => {
  const { session } = await sessionOf({ query: 'query_timeout=300' });
  await outlasting(session, 800);
});

test('a parser of the application that throws fails the statement, and not the process', async () => {
  const { session } = await sessionOf();
  const JSONB = 3_802;
  const before = pg.types.getTypeParser(JSONB);
  pg.types.setTypeParser(JSONB, () => {
    throw new Error('no');
  });
  onTestFinished(() => pg.types.setTypeParser(JSONB, before));
  const ask = () => session.single.rows("SELECT '{}'::jsonb AS value");
  for (let times = 0; times < 2; times++) await expect(ask()).rejects.toThrow('no');
});

test('GUA-11 a statement that takes too long is given up, unless it may', async () => {
  const { session } = await sessionOf({ silenceMs: 300 });
  const slow = 'SELECT 1 AS n FROM pg_sleep(1)';
  await expect.poll(() => session.patient((db) => db.rows(slow))).toEqual([{ n: 1 }]);
  await expect(session.transaction((db) => db.rows(slow))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
});
