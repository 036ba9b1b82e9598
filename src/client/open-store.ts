import { PawlError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import type { MigrationMode } from '../stores/migration.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { postgresStore } from '../stores/postgres/postgres-store.js';
import { sqliteStore } from '../stores/sqlite/sqlite-store.js';

export type OpenOptions = { readonly clock: Clock; readonly migrations?: MigrationMode };

/** Opens the store that a URL names: `memory:`, `sqlite:` and a path, or `postgres://`. */
export async function openStore(url: string, { clock, migrations = 'migrate' }: OpenOptions): Promise<Store> {
  const [scheme = '', ...rest] = url.split(':');
  const path = rest.join(':').replace(/^\/\//, '');
  if (scheme === 'memory' && path === '') return memoryStore({ clock });
  if (scheme === 'sqlite' && path !== '') return sqliteStore({ path, clock, migrations });
  if (scheme === 'postgres' || scheme === 'postgresql') return postgresStore({ url, clock, migrations });
  throw new PawlError('STORE_URL_INVALID', { detail: `'${url}' names no store that this release knows` });
}
