import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fakeClock } from '../../testkit/fake-clock.js';
import { openDatabase } from './driver.js';
import { Session } from './session.js';
import { storeError } from './store-error.js';

/** One session, and another connection to the same file that keeps it from writing. */
async function blocked() {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-session-'));
  const path = join(folder, 'pawl.db');
  const clock = fakeClock(0);
  const session = new Session(await openDatabase(path), clock);
  const other = await openDatabase(path);
  other.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (name TEXT); BEGIN IMMEDIATE');
  onTestFinished(async () => {
    await session.close();
    other.close();
    rmSync(folder, { recursive: true });
  });
  return { session, clock, other };
}

test('what waits for another process is written in the order in which it came, and nothing overtakes it', async () => {
  const { session, clock, other } = await blocked();
  const order: string[] = [];
  const write = (name: string) =>
    session.write(() => {
      session.run('INSERT INTO t VALUES (?)', name);
      order.push(name);
    });
  const first = write('first');
  const second = write('second');
  // Asked for when the first is done and the second about to begin.
  const third = first.then(() => write('third'));
  expect(order).toEqual([]);
  other.exec('ROLLBACK');
  clock.advance(3);
  await Promise.all([first, second, third]);
  expect(order).toEqual(['first', 'second', 'third']);
});

test('a write that nobody is in the way of is done when it returns, and one that fails leaves nothing behind', async () => {
  const { session, other } = await blocked();
  other.exec('ROLLBACK');
  const count = () => session.get<{ count: number }>('SELECT count(*) AS count FROM t')?.count;
  const done = session.write(() => session.run('INSERT INTO t VALUES (?)', 'a'));
  expect(count()).toBe(1);
  await done;
  const failing = session.write(() => {
    session.run('INSERT INTO t VALUES (?)', 'b');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(count()).toBe(1);
});

test('a statement by itself is written at once, unless a constraint, another process or an earlier write is in the way', async () => {
  const { session, clock, other } = await blocked();
  const insert = (name: string | null) => session.writeAlone('INSERT INTO strict_t VALUES (?)', name);
  const names = () =>
    other
      .prepare('SELECT name FROM strict_t')
      .all()
      .map(({ name }) => name);
  other.exec('COMMIT; CREATE TABLE strict_t (name TEXT NOT NULL UNIQUE); BEGIN IMMEDIATE');
  expect(insert('a')).toBe(false);
  const queued = session.write(() => session.run('INSERT INTO strict_t VALUES (?)', 'queued'));
  other.exec('COMMIT');
  // Somebody waits for his turn, who came before.
  expect(insert('b')).toBe(false);
  clock.advance(3);
  await queued;
  expect(insert('c')).toBe(true);
  expect(insert('c')).toBe(false);
  expect(insert(null)).toBe(false);
  expect(names()).toEqual(['queued', 'c']);
  expect(session.commits).toBe(2);
});

test('a statement by itself that fails for another reason says why, and nothing of it is there', async () => {
  const { session, other } = await blocked();
  other.exec('COMMIT; CREATE TRIGGER full BEFORE INSERT ON t BEGIN SELECT json(new.name); END');
  expect(() => session.writeAlone('INSERT INTO t VALUES (?)', '{')).toThrow(
    expect.objectContaining({ code: 'STORE_UNAVAILABLE' }),
  );
  expect(session.writeAlone('INSERT INTO t VALUES (?)', '{}')).toBe(true);
  expect(session.get('SELECT count(*) AS count FROM t')).toEqual({ count: 1 });
});

test('GUA-11 whatever a statement fails with is an error of the store, also outside of a transaction', async () => {
  const { session, other } = await blocked();
  const ways: readonly ((sql: string) => unknown)[] = [
    (sql) => session.get(sql),
    (sql) => session.all(sql),
    (sql) => session.tuples(sql),
    (sql) => session.run(sql),
    (sql) => session.runList(sql, []),
  ];
  // As another process that recovers the log, or has the file to itself.
  other.exec('ROLLBACK; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  for (const way of ways) {
    expect(() => way('SELECT * FROM t')).toThrow(
      expect.objectContaining({ code: 'STORE_BUSY', retryable: true }),
    );
  }
  other.exec('COMMIT');
  expect(session.all('SELECT * FROM t')).toEqual([]);
  for (const way of ways) {
    expect(() => way('SELECT * FROM nowhere')).toThrow(
      expect.objectContaining({ code: 'STORE_UNAVAILABLE', retryable: true }),
    );
  }
});

test('GUA-11 a quota, or a limit on the size of a file, is a store that is full; a write that fails for no known reason names them', () => {
  const failed = (fields: object) => storeError(Object.assign(new Error('disk I/O error'), fields));
  for (const name of ['EDQUOT', 'EFBIG', 'ENOSPC'] as const) {
    const error = failed({ errcode: 778, systemErrno: constants.errno[name] });
    expect(error).toMatchObject({ code: 'STORE_FULL', retryable: true });
  }
  expect(failed({ errcode: 778, systemErrno: constants.errno.EIO })).toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.not.stringContaining('quota') as string,
  });
  expect(failed({ errcode: 778 })).toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('quotas') as string,
  });
});
