import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/client/open-store.js';
import { systemClock } from '../../src/client/system-clock.js';
import type { Store } from '../../src/ports/store.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { startPostgres } from '../postgres-server.js';
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
    restart: server?.restart ?? null,
    async findDamage() {
      if (server !== null) return null;
      const raw = await openDatabase(path);
      const { integrity_check: found } = raw.prepare('PRAGMA integrity_check').get() as {
        integrity_check: string;
      };
      raw.close();
      return found === 'ok' ? null : found;
    },
    async close(keep) {
      await store.close();
      await server?.stop();
      if (!keep) rmSync(folder, { recursive: true, maxRetries: 3 });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
