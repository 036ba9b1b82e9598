import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crashTest } from '../../src/cli/crash-test.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { bundled } from '../bundled.js';
import { LONG } from '../long-mode.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-crash-'));
const programs = await bundled();
const self = [process.execPath, join(programs, 'src/cli/main.js')] as const;
const byAThread = [process.execPath, join(programs, 'test/crash/crowd-writer.js')] as const;
let server: PostgresServer;
const ROUNDS = LONG ? 20 : 4;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

describe('written by two processes at a time that are killed in the middle of their work', () => {
  test.each([
    ['SQLite', self],
    ['SQLite, with new jobs by a thread,', byAThread],
  ])(
    '%s loses nothing acknowledged, has nothing half-written, and its file is sound',
    async (name, program) => {
      const path = join(folder, `crash-${name.length}.db`);
      const { acknowledged, losses } = await crashTest(program, { store: `sqlite:${path}`, rounds: ROUNDS });
      expect(losses).toEqual([]);
      expect(acknowledged).toBeGreaterThan(1_000);
      const raw = await openDatabase(path);
      expect(raw.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' });
      raw.close();
    },
  );

  test('Postgres loses nothing acknowledged and has nothing half-written', async () => {
    const { acknowledged, losses } = await crashTest(self, {
      store: await server.createDatabase(),
      rounds: ROUNDS,
    });
    expect(losses).toEqual([]);
    expect(acknowledged).toBeGreaterThan(1_000);
  });
});
