import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { prng, randomTraffic, Rig, STORE_CONFORMANCE, type OpenStore } from '../../src/testkit/index.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});

const folder = mkdtempSync(join(tmpdir(), 'pawl-conformance-'));
/** A server with thousands of databases takes its time to stop. */
const STOP_MS = 300_000;
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await postgres.stop();
}, STOP_MS);

/** Of 150 operations each. `PAWL_SEQUENCES=7000 npx vitest run test/conformance` is a million. */
const SEQUENCES = Number(process.env['PAWL_SEQUENCES'] ?? 70);

let cases = 0;

/** Fresh data for each case; the same data for each connection of a case. */
const STORES: Readonly<Record<string, () => OpenStore>> = {
  memory: () => {
    let shared: ReturnType<typeof memoryStore> | undefined;
    return async ({ clock }) => (shared ??= memoryStore({ clock }));
  },
  sqlite: () => {
    const path = join(folder, `${cases++}.db`);
    return ({ clock, name }) => sqliteStore({ path: `${path}.${name}`, clock });
  },
  postgres: () => {
    let url: Promise<string> | undefined;
    return async ({ clock }) =>
      postgresStore({ url: await (url ??= postgres.createDatabase()), clock, now: () => clock.now() });
  },
};

for (const [store, fresh] of Object.entries(STORES)) {
  describe(store, () => {
    for (const { name, cases: all } of STORE_CONFORMANCE) {
      describe(name, () => {
        for (const [title, run] of Object.entries(all)) {
          test(title, async () => {
            const rig = await Rig.start(fresh());
            try {
              await run(rig);
            } finally {
              await rig.stop();
            }
          });
        }
      });
    }
  });
}

describe('every store says the same as the memory store', () => {
  const said = async (fresh: () => OpenStore, seed: number): Promise<string[]> => {
    const rig = await Rig.start(fresh());
    try {
      return await randomTraffic(rig, prng(seed), { operations: 150 });
    } finally {
      await rig.stop();
    }
  };

  for (const [store, fresh] of Object.entries(STORES).filter(([name]) => name !== 'memory')) {
    test(`${store}, on ${SEQUENCES} random sequences`, { timeout: 120_000 + SEQUENCES * 2_000 }, async () => {
      for (let seed = 0; seed < SEQUENCES; seed++) {
        const [model, real] = await Promise.all([said(STORES['memory'] ?? fresh, seed), said(fresh, seed)]);
        expect(real, `seed ${seed}`).toEqual(model);
      }
    });
  }
});
