import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openStore } from '../../src/client/open-store.js';
import { systemClock } from '../../src/client/system-clock.js';
import { pawl, type Pawl } from '../../src/index.js';
import type { Store } from '../../src/ports/store.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import type { PostgresServer } from '../postgres-server.js';
import { storeFolder } from '../store-folder.js';

/** A store that workers are killed on, as the test sees it: by itself, and through an application that runs no jobs. */
export type CrashGround = {
  readonly url: string;
  readonly store: Store;
  readonly app: Pawl;
  /** For files of the test. */
  readonly folder: string;
  /** How much mail is on its way. */
  mail(): Promise<number>;
  /** Does a process, which may be frozen, hold a lock that keeps all others from writing? Only a file has such a lock. */
  isLocked(): boolean;
  close(): Promise<void>;
};

export async function sqliteGround(): Promise<CrashGround> {
  const folder = storeFolder('pawl-crash-');
  const path = join(folder, 'crash.db');
  const opened = await open(`sqlite:${path}`, folder);
  const raw = await openDatabase(path);
  return {
    ...opened,
    mail: async () => Number(raw.prepare('SELECT count(*) AS n FROM outbox').get()?.['n']),
    isLocked() {
      try {
        raw.exec('BEGIN IMMEDIATE; ROLLBACK');
        return false;
      } catch {
        return true;
      }
    },
    async close() {
      const { integrity_check: sound } = raw.prepare('PRAGMA integrity_check').get() ?? {};
      if (sound !== 'ok') throw new Error(`the file is damaged: ${String(sound)}`);
      raw.close();
      await opened.close();
    },
  };
}

export async function postgresGround(server: PostgresServer): Promise<CrashGround> {
  const url = await server.createDatabase();
  const opened = await open(url, storeFolder('pawl-crash-'));
  const raw = new pg.Client({ connectionString: url });
  await raw.connect();
  return {
    ...opened,
    async mail() {
      const { rows } = await raw.query<{ n: number }>('SELECT count(*)::int AS n FROM pawl.outbox');
      return rows[0]?.n ?? 0;
    },
    isLocked: () => false,
    async close() {
      await raw.end();
      await opened.close();
    },
  };
}

async function open(url: string, folder: string): Promise<Omit<CrashGround, 'mail' | 'isLocked'>> {
  const store = await openStore(url, { clock: systemClock });
  const app = await pawl({ store, tasks: [] });
  return {
    url,
    store,
    app,
    folder,
    async close() {
      await app.close();
      rmSync(folder, { recursive: true });
    },
  };
}
