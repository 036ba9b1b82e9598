import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fakeClock } from '../../testkit/fake-clock.js';
import { openDatabase } from './driver.js';
import { migrate } from './migrate.js';
import { openFile } from './open-file.js';

/** A new file that another process is writing its first page to. */
async function inUse() {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-open-'));
  const path = join(folder, 'pawl.db');
  const other = await openDatabase(path);
  other.exec('CREATE TABLE theirs (name TEXT); BEGIN EXCLUSIVE');
  onTestFinished(() => {
    other.close();
    rmSync(folder, { recursive: true });
  });
  const clock = fakeClock(0);
  return {
    other,
    clock,
    opening: openFile(path, { clock, prepare: (db) => migrate(db, 'migrate') }),
  };
}

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => void setImmediate(resolve));
};

test('GUA-11 a file that another process is just making is waited for, and the event loop goes on meanwhile', async () => {
  const { other, clock, opening } = await inUse();
  for (let i = 0; i < 20; i++) {
    await turns(2);
    clock.advance(100);
  }
  other.exec('COMMIT');
  await turns(2);
  clock.advance(5);
  const db = await opening;
  expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  db.close();
});

test('a file that stays locked for five seconds is busy', async () => {
  const { clock, opening } = await inUse();
  const failed = expect(opening).rejects.toMatchObject({ code: 'STORE_BUSY', retryable: true });
  for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 5) {
    await turns(2);
    clock.advance(5);
  }
  await failed;
});

test('a file that is no database is told apart from one that cannot be reached: to try again is of no use', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-open-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'notes.txt');
  writeFileSync(path, 'no database at all, but somebody’s notes\n'.repeat(100));
  const before = readFileSync(path, 'utf8');
  const opening = openFile(path, { clock: fakeClock(0), prepare: (db) => migrate(db, 'migrate') });
  await expect(opening).rejects.toMatchObject({ code: 'STORE_DAMAGED', retryable: false });
  expect(readFileSync(path, 'utf8')).toBe(before);
});
