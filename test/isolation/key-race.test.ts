import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { judgeJobStart } from '../../src/kernel/index.js';
import type { Store } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { T0 } from '../../src/testkit/index.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { keyedStart, keyOf, send, startedJob } from './keyed-start.js';
import { storeFolder } from '../store-folder.js';

const STARTS = 64;
/** Of 64 starts each, 64,000 in all: on SQLite some 3 s, on Postgres and 2 cores near a minute, so CI does less there. */
const ALL_KEYS = 1_000;
const CI_KEYS_ON_POSTGRES = 50;
/** Keys that are raced for at the same time: more would only queue before the stores' own limits. */
const KEYS_AT_ONCE = 10;

const clock = {
  now: () => T0,
  after: (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

const folder = storeFolder('pawl-key-race-');
let files = 0;
let server: PostgresServer | undefined;
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server?.stop();
});

type Setting = { readonly keys: number; readonly open: () => Promise<Store[]> };

/**
 * Stores that share nothing but their database, like as many processes.
 * `PAWL_KEYS=1000 npx vitest run test/isolation/key-race.test.ts` is the full size on both.
 */
const SETTINGS: Readonly<Record<string, Setting>> = {
  'postgres, with 8 stores': {
    keys: Number(process.env['PAWL_KEYS'] ?? CI_KEYS_ON_POSTGRES),
    async open() {
      server ??= await startPostgres();
      const url = await server.createDatabase();
      const openOne = () => postgresStore({ url, clock, now: clock.now });
      return Promise.all(Array.from({ length: 8 }, openOne));
    },
  },
  'sqlite, with 4 stores': {
    keys: Number(process.env['PAWL_KEYS'] ?? ALL_KEYS),
    async open() {
      const path = join(folder, `${files++}.db`);
      const stores: Store[] = [];
      for (let n = 0; n < 4; n++) stores.push(await sqliteStore({ path, clock }));
      return stores;
    },
  },
};

/** Starts one key from everywhere at once, and answers with the jobs that the starters were led to. */
async function race(stores: readonly Store[], key: string): Promise<string[]> {
  const items = Array.from({ length: STARTS }, (_, n) => keyedStart(`job_${key}_${n}`, key));
  return Promise.all(items.map((item, n) => startedJob(stores[n % stores.length] as Store, item)));
}

for (const [name, { keys: count, open }] of Object.entries(SETTINGS)) {
  describe(name, () => {
    test(`DEC-6 ${STARTS} concurrent starts of one key make one job and all learn its id, for each of ${count} keys`, async () => {
      const stores = await open();
      const [first] = stores as [Store];
      for (let from = 0; from < count; from += KEYS_AT_ONCE) {
        const keys = Array.from({ length: Math.min(KEYS_AT_ONCE, count - from) }, (_, n) => `k${from + n}`);
        const learned = await Promise.all(keys.map((key) => race(stores, key)));
        const { jobIds } = await first.resolve(keys.map(keyOf));
        learned.forEach((ids, n) => expect(new Set(ids), keys[n]).toEqual(new Set([jobIds[n]])));
      }
      // Not one job more: the losers left nothing behind.
      expect((await first.counts({ tenantId: null })).counts).toEqual({ queued: count });
      await Promise.all(stores.map((store) => store.close()));
    });

    test('DEC-6 a start of a taken key with other critical fields is refused, learns the owner and what differs', async () => {
      const stores = await open();
      const [first, second] = stores as [Store, Store];
      expect(await send(first, keyedStart('job_owner', 'taken'))).toEqual({ ok: true, repeated: false });
      const other = { task: 'refund', inputHash: 'another-hash' };
      expect(await send(second, keyedStart('job_other', 'taken', other))).toEqual({
        ok: false,
        code: 'IDENTITY_TAKEN',
        owners: ['job_owner'],
      });
      const { found } = await second.load('job_owner');
      expect(judgeJobStart(other, { byKey: found && found.job })).toMatchObject({
        kind: 'duplicate',
        conflictFields: ['task', 'inputHash'],
      });
      expect((await second.load('job_other')).found).toBe(null);
      await Promise.all(stores.map((store) => store.close()));
    });
  });
}
