import { expect, onTestFinished, test } from 'vitest';
import { openDatabase, type Database } from './driver.js';
import { migrate } from './migrate.js';

test('a migration that fails says why, although SQLite has undone it by itself', async () => {
  const db = await openDatabase(':memory:');
  onTestFinished(() => db.close());
  const full = Object.assign(new Error('database or disk is full'), { errcode: 13 });
  // As SQLite does where the disk has no room for what is to be committed.
  const onFullDisk: Database = {
    prepare: (sql) => db.prepare(sql),
    close: () => undefined,
    exec(sql) {
      if (sql !== 'COMMIT') return db.exec(sql);
      db.exec('ROLLBACK');
      throw full;
    },
  };
  expect(() => migrate(onFullDisk, 'migrate')).toThrow(full);
});
