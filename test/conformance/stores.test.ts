import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { Writer } from '../../src/stores/sqlite/writer.js';
import {
  DRAWS,
  lostConnection,
  randomTraffic,
  Rig,
  STORE_CONFORMANCE,
  type Draws,
  type OpenStore,
  type Topic,
} from '../../src/testkit/index.js';
import { cutConnections, startPostgres, type PostgresServer } from '../postgres-server.js';
import { byAThread, withRealWaits } from '../by-a-thread.js';
import { LONG } from '../long-mode.js';
import { storeFolder } from '../store-folder.js';

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});

const folder = storeFolder('pawl-conformance-');
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await postgres.stop();
});

/** `PAWL_SEQUENCES=7500 npx vitest run test/conformance` is a million operations; PAWL_SEED gives others. */
const SEQUENCES = Number(process.env['PAWL_SEQUENCES'] ?? 40);
const SEED = Number(process.env['PAWL_SEED'] ?? 1);
const MEAN_LENGTH = 150;

let cases = 0;

const BY_A_THREAD = 'sqlite, with new jobs by a thread';
const crowds = await byAThread();
const handedOver = vi.spyOn(Writer.prototype, 'save');

/** `end`: nobody uses it any more. */
type Fresh = () => OpenStore & { readonly end?: () => Promise<void> };

/** A database for each case, with what the address says besides. */
const onPostgres =
  (query = ''): Fresh =>
  () => {
    const urls = new Map([['main', postgres.borrowDatabase()]]);
    const urlOf = (name: string): Promise<string> => {
      // Made for a case that wants to see how a store comes to be.
      const url = urls.get(name) ?? postgres.createDatabase();
      urls.set(name, url);
      return url;
    };
    const open: OpenStore = async ({ clock, name }) =>
      postgresStore({ url: `${await urlOf(name)}${query}`, clock, now: () => clock.now() });
    return Object.assign(open, {
      cut: async () => cutConnections(await urlOf('main')),
      end: async () => {
        for (const url of urls.values()) await postgres.returnDatabase(await url);
      },
    });
  };

/** Fresh data for each case; the same data for each connection of a case. */
const STORES: Readonly<Record<string, Fresh>> = {
  memory: () => {
    let shared: ReturnType<typeof memoryStore> | undefined;
    // It is gone once it is closed, and several hold it.
    return async ({ clock }) => ({ ...(shared ??= memoryStore({ clock })), close: async () => undefined });
  },
  sqlite: () => {
    const path = join(folder, `${cases++}.db`);
    return ({ clock, name }) => sqliteStore({ path: `${path}.${name}`, clock });
  },
  [BY_A_THREAD]: () => {
    const path = join(folder, `${cases++}.db`);
    return ({ clock, name }) => sqliteStore({ path: `${path}.${name}`, clock: withRealWaits(clock), crowds });
  },
  postgres: onPostgres(),
  /** Nobody listens, and nothing is prepared. */
  ...(LONG && { 'postgres with prepare=false': onPostgres('?prepare=false') }),
};

/** The dearest: what they see to is the same whether anybody listens or not. */
const DEAR = new Set(['limits', 'tenant limits', 'retention', 'migration']);
const TOPICS: Readonly<Record<string, readonly Topic[]>> = {
  postgres: [...STORE_CONFORMANCE, lostConnection],
  'postgres with prepare=false': STORE_CONFORMANCE.filter(({ name }) => !DEAR.has(name)),
};

for (const [store, fresh] of Object.entries(STORES)) {
  describe(store, () => {
    for (const { name, cases: all } of TOPICS[store] ?? STORE_CONFORMANCE) {
      describe(name, () => {
        for (const [title, run] of Object.entries(all)) {
          test(title, async () => {
            const open = fresh();
            const rig = await Rig.start(open);
            try {
              await run(rig);
            } finally {
              await rig.stop();
              await open.end?.();
            }
          });
        }
      });
    }
  });
}

describe('every store says the same as the memory store', () => {
  const said = async (fresh: Fresh, operations: readonly Draws[]): Promise<string[]> => {
    const open = fresh();
    const rig = await Rig.start(open);
    try {
      return await randomTraffic(rig, operations);
    } finally {
      await rig.stop();
      await open.end?.();
    }
  };
  const operation = fc.array(fc.nat({ max: 9_999 }), { minLength: DRAWS, maxLength: DRAWS });
  const traffic = fc.array(operation, { minLength: 1, maxLength: 2 * MEAN_LENGTH, size: 'max' });

  for (const store of ['sqlite', BY_A_THREAD, 'postgres']) {
    const fresh = STORES[store] as Fresh;
    const mostMs = 120_000 + SEQUENCES * 2_000;
    test(`${store}, on ${SEQUENCES} random sequences`, { timeout: mostMs + 60_000 }, async () => {
      let operations = 0;
      const saysTheSame = fc.asyncProperty(traffic, async (sequence) => {
        operations += sequence.length;
        const [model, real] = await Promise.all([
          said(STORES['memory'] ?? fresh, sequence),
          said(fresh, sequence),
        ]);
        expect(real).toEqual(model);
      });
      await fc.assert(saysTheSame, {
        numRuns: SEQUENCES,
        seed: SEED,
        // Bias is towards short sequences.
        unbiased: true,
        // What fails is made as short as this leaves time for, and is then reported.
        interruptAfterTimeLimit: mostMs,
        markInterruptAsFailure: true,
      });
      expect(operations).toBeGreaterThan(SEQUENCES * MEAN_LENGTH * 0.9);
    });
  }
});

test('new jobs were written by a thread wherever that is said, most of them at the first try', async () => {
  const outcomes = handedOver.mock.settledResults.map(({ value }) => value as number | null);
  expect(outcomes.length).toBeGreaterThan(500);
  expect(outcomes.filter((last) => last === null).length).toBeLessThan(outcomes.length / 4);
});
