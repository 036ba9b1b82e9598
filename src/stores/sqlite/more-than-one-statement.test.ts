import { expect, test } from 'vitest';
import { hasMoreThanOneStatement } from './more-than-one-statement.js';

const TRIGGER = `CREATE TRIGGER paid AFTER INSERT ON a BEGIN
  UPDATE a SET x = CASE x WHEN 1 THEN 2 ELSE 3 END; -- not the end;
  DELETE FROM "END"; ; END`;

test.each([
  'INSERT INTO a VALUES (1)',
  'INSERT INTO a VALUES (1);',
  ' ; INSERT INTO a VALUES (1) ; ; -- done; really\n /* INSERT; */ ',
  "INSERT INTO a VALUES ('it''s; fine', '--')",
  'INSERT INTO "a;""b" (`c;`, [d;"]) VALUES (1)',
  'INSERT INTO a /* one; -- */ VALUES (1) -- two; three',
  'INSERT INTO a VALUES (1); /* never closed; INSERT',
  "UPDATE a SET x = 'never closed; UPDATE a",
  'BEGIN',
  '',
  '-- nothing;',
  TRIGGER,
  `${TRIGGER};`,
  `explain query plan ${TRIGGER.replace('CREATE', 'create /* ; */ temporary')} ; `,
  TRIGGER.replace('CREATE', 'CREATE TEMP').replace('paid', 'IF NOT EXISTS paid'),
  `INSERT INTO a VALUES ('${"'';".repeat(100_000)}')`,
])('one statement is taken for one: %.40s', (sql) => {
  expect(hasMoreThanOneStatement(sql)).toBe(false);
});

test.each([
  'INSERT INTO a VALUES (1); INSERT INTO a VALUES (2)',
  'INSERT INTO a VALUES (1);INSERT INTO a VALUES (2);',
  "INSERT INTO a VALUES ('a;b'); -- and\nDELETE FROM a",
  'CREATE TABLE trigger_log (x); CREATE TABLE b (x)',
  'CREATE TABLE a (x) /* TRIGGER */; DELETE FROM a; END',
  `${TRIGGER}; DELETE FROM a`,
  'BEGIN; COMMIT',
  'SELECT 1; )',
])('two are taken for two: %.40s', (sql) => {
  expect(hasMoreThanOneStatement(sql)).toBe(true);
});
