import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openStore } from '../../src/client/open-store.js';
import { systemClock } from '../../src/client/system-clock.js';
import type { Store } from '../../src/ports/store.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { keepLogs } from './keep-logs.js';
import { Outside } from './outside.js';

export type StoreKind = 'sqlite' | 'postgres';

/** Where chaos takes place: a folder, a store, and the world outside. */
export type Ground = {
  readonly folder: string;
  readonly url: string;
  readonly store: Store;
  readonly outside: Outside;
  readonly outsideFolder: string;
  readonly port: number;
  /** Restarts the database; null if there is none to restart. */
  readonly restart: ((how: { crash: boolean }) => Promise<void>) | null;
  /** Of the database, with its name. */
  version(): Promise<string>;
  /** What the database itself says about its files; null if all is well. */
  findDamage(): Promise<string | null>;
  /** `keep`: its files stay, for whoever wants to look. */
  close(keep: boolean): Promise<void>;
};

export async function openGround(kind: StoreKind): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), `pawl-chaos-${kind}-`));
  const outsideFolder = join(folder, 'outside');
  mkdirSync(outsideFolder);
  const path = join(folder, 'chaos.db');
  const server = kind === 'postgres' ? await startPostgres() : null;
  const url = (await server?.createDatabase()) ?? `sqlite:${path}`;
  const store = await openStore(url, { clock: systemClock });
  return {
    folder,
    url,
    store,
    outside: new Outside(outsideFolder),
    outsideFolder,
    port: await freePort(),
    restart: server?.power ? restarting(server.power) : null,
    async version() {
      if (server === null) return `SQLite ${await askFile(path, 'SELECT sqlite_version() AS said')}`;
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
      await client.end();
      return `Postgres ${rows[0]?.server_version}`;
    },
    async findDamage() {
      if (server !== null) return null;
      const said = await askFile(path, 'SELECT integrity_check AS said FROM pragma_integrity_check');
      return said === 'ok' ? null : said;
    },
    async close(keep) {
      if (keep) await keepLogs(store, join(folder, 'logs.ndjson'));
      await store.close();
      await server?.stop();
      if (!keep) rmSync(folder, { recursive: true, maxRetries: 3 });
    },
  };
}

async function askFile(path: string, sql: string): Promise<string> {
  const raw = await openDatabase(path);
  const { said } = raw.prepare(sql).get() as { said: string };
  raw.close();
  return said;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** In the middle of everything if it crashes, and then on the same files and port. */
function restarting(power: NonNullable<PostgresServer['power']>): NonNullable<Ground['restart']> {
  return async (how) => {
    await power.off(how);
    await power.on();
  };
}
