import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { batchedInsert, MOST, SIZES } from './batched.js';
import { openDatabase, type Database, type SqlValue } from './driver.js';

const COLUMNS = ['id', 'a', 'b', 'c'] as const;
const insert = batchedInsert('given_rows', COLUMNS);
let db: Database;

beforeAll(async () => {
  db = await openDatabase(':memory:');
  db.exec('CREATE TABLE given_rows (id INTEGER PRIMARY KEY, a, b, c)');
  return () => db.close();
});

function write(rows: readonly (readonly SqlValue[])[]): { written: SqlValue[][]; handedOver: number } {
  db.exec('DELETE FROM given_rows');
  const { sql, values } = insert.for(rows.length, rows.flat());
  db.prepare(sql).run(...values);
  const found = db.prepare('SELECT * FROM given_rows ORDER BY id').all();
  return {
    written: found.map((row) => COLUMNS.map((column) => row[column] ?? null)),
    handedOver: values.length,
  };
}

test('what is written is what was given, however much of it is the same in all rows', () => {
  const value = fc.constantFrom<SqlValue>(null, 0, 1, '', 'x', 'é😀');
  fc.assert(
    fc.property(
      fc.constantFrom(...SIZES),
      fc.array(fc.record({ shared: fc.boolean(), value, other: value }), { minLength: 3, maxLength: 3 }),
      (size, columns) => {
        const rows = Array.from({ length: size }, (_, i) => [
          i,
          ...columns.map(({ shared, value: one, other }) => (shared || i % 2 === 0 ? one : other)),
        ]);
        expect(write(rows).written).toEqual(rows);
      },
    ),
  );
});

test('a column that is the same in all rows of a large statement is handed over once', () => {
  const rows = Array.from({ length: MOST }, (_, i) => [i, 'same', i % 2, null]);
  expect(write(rows).handedOver).toBe(2 * MOST + 2);
  const few = rows.slice(0, 8);
  expect(write(few).handedOver).toBe(4 * 8);
});

test('ways to share that come by chance do not each get a statement, and all rows are written', () => {
  const wide = Array.from({ length: 8 }, (_, i) => `c${i}`);
  db.exec(`CREATE TABLE wide_rows (id INTEGER PRIMARY KEY, ${wide.join()})`);
  const insertWide = batchedInsert('wide_rows', ['id', ...wide]);
  const statements = new Set<string>();
  for (let way = 0; way < 256; way++) {
    const rows = Array.from({ length: MOST }, (_, i) => [
      way * MOST + i,
      ...wide.map((_name, column) => ((way >> column) & 1 ? 'same' : i)),
    ]);
    const { sql, values } = insertWide.for(MOST, rows.flat());
    statements.add(sql);
    db.prepare(sql).run(...values);
  }
  expect(statements.size).toBeLessThan(20);
  const counts = `count(*) AS written, ${wide.map((c) => `sum(${c} = 'same') AS ${c}`).join()}`;
  expect({ ...db.prepare(`SELECT ${counts} FROM wide_rows`).get() }).toEqual({
    written: 256 * MOST,
    ...Object.fromEntries(wide.map((column) => [column, 128 * MOST])),
  });
});

test('a counted column counts from the number that is added to the end of the values', () => {
  const counted = batchedInsert('given_rows', COLUMNS, 'id');
  for (const size of SIZES) {
    db.exec('DELETE FROM given_rows');
    const rows = Array.from({ length: size }, (_, i) => [i + 1, 'same', i, null]);
    const { sql, values } = counted.for(size, rows.flat());
    db.prepare(sql).run(...values, 1_000);
    const found = db.prepare('SELECT id, a, b FROM given_rows ORDER BY id').all();
    expect(found.map(({ id, a, b }) => [id, a, b])).toEqual(
      rows.map(([id, a, b]) => [1_000 + Number(id), a, b]),
    );
  }
});
