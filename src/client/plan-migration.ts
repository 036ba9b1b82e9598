import { existsSync } from 'node:fs';
import { PawlError } from '../errors.js';
import { openDatabase } from '../stores/sqlite/driver.js';
import { plan as planSqlite } from '../stores/sqlite/migrate.js';
import { plan as planPostgres } from '../stores/postgres/migrate.js';
import { Session } from '../stores/postgres/session.js';
import { storeError } from '../stores/sqlite/store-error.js';
import { parseOwnStoreUrl } from './open-store.js';

/** The SQL that `openStore` would run first; empty if the schema is up to date. Nothing is changed. */
export async function planMigration(url: string): Promise<string> {
  const { kind, path } = parseOwnStoreUrl(url);
  if (kind === 'memory') return '';
  if (kind === 'sqlite') {
    if (!existsSync(path)) return planSqlite(await openDatabase(':memory:'));
    const db = await openDatabase(path);
    try {
      return planSqlite(db);
    } catch (error) {
      throw error instanceof PawlError ? error : storeError(error, `cannot read ${path}`);
    } finally {
      db.close();
    }
  }
  const session = new Session({ url });
  try {
    return await planPostgres(session);
  } finally {
    await session.close();
  }
}
