import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { crashEverywhere, everyPlan, findings } from './crash-everywhere.js';
import { postgresGround, sqliteGround, type CrashGround } from './crash-ground.js';

const all = process.env['PAWL_CRASH_ALL'] === '1';
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function prove(open: () => Promise<CrashGround>, { every }: { every: number }): Promise<void> {
  const plans = await everyPlan(open);
  expect(plans.length).toBeGreaterThan(150);
  // Signals that are there already are taken without leaving the handler.
  expect(plans.flat().filter((point) => point.includes('wait.begun:early'))).toEqual([]);
  const chosen = plans.filter((_, index) => index % every === 0);
  const runs = await crashEverywhere(open, chosen);
  expect(findings(runs)).toEqual([]);
  expect(runs).toHaveLength(chosen.length);
}

describe('a handler that is killed anywhere goes on elsewhere, and no effect happens twice', () => {
  test(`GUA-4 GUA-6 SQLite, at every ${all ? '' : '60th '}point`, { timeout: 600_000 }, async () => {
    await prove(sqliteGround, { every: all ? 1 : 60 });
  });

  test(`GUA-4 GUA-6 Postgres, at every ${all ? '' : '180th '}point`, { timeout: 1_200_000 }, async () => {
    await prove(() => postgresGround(server), { every: all ? 1 : 180 });
  });
});
