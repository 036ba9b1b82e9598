import { existsSync } from 'node:fs';
import { PawlError } from '../errors.js';
import type { StoreClock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import type { MigrationMode } from '../stores/migration.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { withoutPassword } from './without-password.js';

export type OpenOptions = { readonly clock: StoreClock; readonly migrations?: MigrationMode };

export type StoreUrl =
  | { readonly kind: 'memory'; readonly path: '' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly path: '' }
  | { readonly kind: 'http'; readonly path: '' };

/** What SQLite calls a database that is in no file, and gone once it is closed. */
export const IN_NO_FILE = ':memory:';

export function parseStoreUrl(url: string): StoreUrl {
  const [scheme = '', ...rest] = url.split(':');
  const path = rest.join(':').replace(/^\/\//, '');
  if (scheme === 'memory' && path === '') return { kind: 'memory', path: '' };
  if (scheme === 'sqlite' && path !== '') return { kind: 'sqlite', path };
  if ((scheme === 'postgres' || scheme === 'postgresql') && URL.canParse(url)) {
    return { kind: 'postgres', path: '' };
  }
  if ((scheme === 'http' || scheme === 'https') && isPlain(url)) return { kind: 'http', path: '' };
  throw new PawlError('STORE_URL_INVALID', {
    detail: `'${withoutPassword(url)}' names no store that this release knows`,
  });
}

/** A server's address, and nothing besides: keys do not belong into addresses, which end in logs. */
function isPlain(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password, search, hash } = new URL(url);
  return [username, password, search, hash].every((part) => part === '');
}

/** The same, of a store that is worked on from here. Throws REMOTE_UNSUPPORTED for a server's. */
export function parseOwnStoreUrl(url: string): Exclude<StoreUrl, { readonly kind: 'http' }> {
  const parsed = parseStoreUrl(url);
  if (parsed.kind !== 'http') return parsed;
  throw new PawlError('REMOTE_UNSUPPORTED', { detail: 'a server is no store that can be opened directly' });
}

/** Throws STORE_UNAVAILABLE for a file that is not there: opened, it would be, and a mistyped name go unnoticed. */
export function expectStore(url: string): void {
  const { kind, path } = parseStoreUrl(url);
  if (kind === 'sqlite' && path !== IN_NO_FILE && !existsSync(path)) {
    throw new PawlError('STORE_UNAVAILABLE', { detail: `there is no database ${path}` });
  }
}

/**
 * Opens the store that a URL names: `memory:`, `sqlite:` and a path, or `postgres://`. Only that one's code is loaded. One
 * that may not be migrated is not made either.
 */
export async function openStore(url: string, { clock, migrations = 'migrate' }: OpenOptions): Promise<Store> {
  const { kind, path } = parseOwnStoreUrl(url);
  if (kind === 'memory') return memoryStore({ clock });
  if (migrations === 'verify') expectStore(url);
  if (kind === 'sqlite') {
    const { sqliteStore } = await import('../stores/sqlite/sqlite-store.js');
    return sqliteStore({ path, clock, migrations });
  }
  const { postgresStore } = await import('../stores/postgres/postgres-store.js');
  return postgresStore({ url, clock, migrations });
}
