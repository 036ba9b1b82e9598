import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.js';
import { postgresStore } from '../../../src/stores/postgres/postgres-store.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.js';
import { fakeClock, T0, type FakeClock } from '../../../src/testkit/index.js';
import { startPostgres, type PostgresServer } from '../../postgres-server.js';
import { fuzz } from '../fuzz/fuzz.js';
import { storeFolder } from '../../store-folder.js';

/** For each store. `npm run fuzz:http` sends 60,000 to each of the two. */
const COUNT = Number(process.env['PAWL_FUZZ_REQUESTS'] ?? 1_500);
const SEED = Number(process.env['PAWL_FUZZ_SEED'] ?? 7);
/** What a server may keep of so many requests: caches that fill up once, not something of each. */
const MOST_GROWTH = 40 * 1_048_576;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const folder = storeFolder('pawl-fuzz-');
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

const STORES: Readonly<Record<string, (clock: FakeClock) => Promise<Store>>> = {
  sqlite: async (clock) => sqliteStore({ path: join(folder, 'fuzz.db'), clock }),
  postgres: async (clock) =>
    postgresStore({ url: await server.createDatabase(), clock, now: () => clock.now() }),
};

describe('JOB-13 whatever is sent, for long', () => {
  test.each(Object.entries(STORES))(
    'no server error, nothing stored by what is refused, memory flat: %s',
    { timeout: 7_200_000 },
    async (name, open) => {
      const clock = fakeClock(T0);
      const report = await fuzz(await open(clock), { clock, count: COUNT, seed: SEED, collect });
      const [early, late] = report.heap;
      process.stdout.write(`${name}: ${JSON.stringify({ ...report, grownBy: late - early })}\n`);
      expect(report.errors).toEqual([]);
      expect(report.requests).toBeGreaterThanOrEqual(COUNT);
      expect(late - early).toBeLessThan(MOST_GROWTH);
    },
  );
});
