import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import type { Store } from '../../src/ports/store.js';
import { fakeClock, T0, type FakeClock } from '../../src/testkit/index.js';
import { fuzz } from './fuzz/fuzz.js';
import { storeFolder } from '../store-folder.js';

const folder = storeFolder('pawl-fuzz-');
afterAll(() => rmSync(folder, { recursive: true }));

/** `npm run fuzz:http` sends far more, to Postgres too. */
const COUNT = 2_500;

const STORES: Readonly<Record<string, (clock: FakeClock) => Store | Promise<Store>>> = {
  memory: (clock) => memoryStore({ clock }),
  sqlite: (clock) => sqliteStore({ path: join(folder, 'fuzz.db'), clock }),
};

describe('JOB-13 whatever is sent', () => {
  test.each(Object.entries(STORES))(
    'no server error, nothing stored by what is refused, and every answer as the route table says: %s',
    async (_name, open) => {
      const clock = fakeClock(T0);
      const report = await fuzz(await open(clock), { clock, count: COUNT, seed: 20_260_225 });
      expect(report.errors).toEqual([]);
      expect(report.requests).toBeGreaterThanOrEqual(COUNT);
      // Requests that are all refused prove little.
      expect((report.byStatus['200'] ?? 0) + (report.byStatus['201'] ?? 0)).toBeGreaterThan(COUNT / 10);
      for (const status of [400, 401, 403, 404, 405, 409, 415])
        expect(report.byStatus[status]).toBeGreaterThan(0);
    },
  );
});
