import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import type { Store } from '../src/ports/store.js';
import { memoryStore } from '../src/stores/memory/memory-store.js';
import { postgresStore } from '../src/stores/postgres/postgres-store.js';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.js';
import {
  Cluster,
  fakeClock,
  T0,
  testApp,
  type FakeClock,
  type TestApp,
  type TestAppOptions,
} from '../src/testkit/index.js';
import { storeFolder } from './store-folder.js';
import { startPostgres, type PostgresServer } from './postgres-server.js';

/** What a test gets of the store that it runs on. All of it ends with the test. */
export type Fresh = {
  /** Which store: 'memory', 'sqlite' or 'postgres'. */
  readonly name: string;
  /** An empty store on a clock. It outlives the applications that use it. */
  readonly store: (clock: FakeClock) => Promise<Store>;
  /** Several applications on an empty store. */
  readonly cluster: () => Promise<Cluster>;
  /** One application on an empty store. */
  readonly app: (options: TestAppOptions) => Promise<TestApp>;
};

type Ground = {
  readonly open: (clock: FakeClock) => Promise<Store>;
  readonly begin?: () => Promise<void>;
  readonly end?: () => Promise<void>;
};

const GROUNDS: Readonly<Record<string, () => Ground>> = {
  memory: () => ({ open: async (clock) => memoryStore({ clock }) }),
  sqlite: () => {
    const folder = storeFolder('pawl-every-store-');
    let files = 0;
    return {
      open: (clock) => sqliteStore({ path: join(folder, `${files++}.db`), clock }),
      end: async () => rmSync(folder, { recursive: true }),
    };
  },
  postgres: () => {
    let server: PostgresServer;
    return {
      begin: async () => void (server = await startPostgres()),
      end: () => server.stop(),
      async open(clock) {
        const url = await server.borrowDatabase();
        const store = await postgresStore({ url, clock, now: () => clock.now() });
        return { ...store, close: () => store.close().then(() => server.returnDatabase(url)) };
      },
    };
  },
};

/**
 * Runs a suite on memory, on SQLite files and on a real Postgres, all under a fake clock. `npm run check` runs it on memory
 * only (`--mode unit`): the other two take a while.
 */
export function onEveryStore(define: (fresh: Fresh) => void): void {
  const names = process.env['PAWL_UNIT'] === '1' ? ['memory'] : Object.keys(GROUNDS);
  describe.each(names)('on %s', (name) => {
    const { open, begin, end } = (GROUNDS[name] as () => Ground)();
    if (begin) beforeAll(begin);
    if (end) afterAll(end);
    const store = async (clock: FakeClock): Promise<Store> => {
      const opened = await open(clock);
      onTestFinished(() => opened.close());
      return heard(opened, clock);
    };
    define({
      name,
      store,
      async cluster() {
        const clock = fakeClock(T0);
        const cluster = new Cluster({ clock, store: await store(clock) });
        onTestFinished(() => cluster.stop());
        return cluster;
      },
      async app(options) {
        const clock = options.clock ?? fakeClock(T0);
        const rig = await testApp({ ...options, clock, store: options.store ?? (await store(clock)) });
        onTestFinished(() => rig.stop());
        return rig;
      },
    });
  });
}

/** The clock does not run on while the store is being asked; nor does one of the applications close it. */
function heard(store: Store, clock: FakeClock): Store {
  return new Proxy(store, {
    get: (target, name: keyof Store) => {
      if (name === 'close') return async () => undefined;
      const method = target[name] as (...asked: unknown[]) => Promise<unknown>;
      if (typeof method !== 'function' || name === 'wake' || name === 'listen') return method;
      return (...asked: unknown[]) => clock.during(() => method(...asked));
    },
  });
}
