import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Check } from '../../src/cli/doctor/check.js';
import { cliOn } from '../cli/in-process.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

type Report = { passed: boolean; checks: Check[] };
const messages = ({ checks }: Report): string[] =>
  checks.map(({ status, name, message }) => `${status} ${name}: ${message}`);

test('GUA-16 pawl doctor on a real Postgres: what is well, what is off, what is not allowed', async () => {
  const url = await server.createDatabase();
  expect((await cliOn(url)('doctor')).out).toMatch(/fail +schema .*pawl migrate/);
  await cliOn(url)('start', 'a', '--at', '2020-01-01T00:00:00Z');
  const well = await cliOn(url).json<Report>('doctor');
  expect(well.passed).toBe(true);
  expect(await ask(url, 'SELECT id FROM pawl.records')).toEqual([]);
  expect(messages(well).filter((line) => line.startsWith('ok'))).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/version: Postgres \d+/),
      expect.stringMatching(/durability: fsync, full_page_writes and synchronous_commit are on/),
      expect.stringMatching(/bloat: \d+ dead rows/),
    ]),
  );
  expect(messages(well)).toContainEqual(expect.stringMatching(/warn backlog: 1 due, the oldest for \d+ h/));

  const database = new URL(url).pathname.slice(1);
  await ask(url, `ALTER DATABASE ${database} SET synchronous_commit = off`);
  const unsafe = await cliOn(url)('doctor', '--json');
  expect(unsafe.code).toBe(1);
  expect(messages(JSON.parse(unsafe.out) as Report)).toContainEqual(
    expect.stringMatching(/fail durability: synchronous_commit is off/),
  );
  await ask(url, `ALTER DATABASE ${database} RESET synchronous_commit`);

  await ask(url, `CREATE ROLE reader_${process.pid} LOGIN`);
  await ask(url, `GRANT USAGE ON SCHEMA pawl TO reader_${process.pid}`);
  await ask(url, `GRANT SELECT ON ALL TABLES IN SCHEMA pawl TO reader_${process.pid}`);
  const reader = Object.assign(new URL(url), { username: `reader_${process.pid}` }).toString();
  const denied = await cliOn(reader)('doctor');
  expect(denied).toMatchObject({ code: 1, out: expect.stringMatching(/fail +permissions/) as string });
});
