import { PawlError } from '../errors.js';
import type { StoreClock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import type { MigrationMode } from '../stores/migration.js';
import { memoryStore } from '../stores/memory/memory-store.js';

export type OpenOptions = { readonly clock: StoreClock; readonly migrations?: MigrationMode };

export type StoreUrl =
  | { readonly kind: 'memory'; readonly path: '' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly path: '' }
  | { readonly kind: 'http'; readonly path: '' };

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

/** What is shown may end in a log. */
export function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]*@/, ':***@');
}

/** Opens the store that a URL names: `memory:`, `sqlite:` and a path, or `postgres://`. Only that one's code is loaded. */
export async function openStore(url: string, { clock, migrations = 'migrate' }: OpenOptions): Promise<Store> {
  const { kind, path } = parseStoreUrl(url);
  if (kind === 'memory') return memoryStore({ clock });
  if (kind === 'http') {
    throw new PawlError('REMOTE_UNSUPPORTED', { detail: 'a server is no store that can be opened directly' });
  }
  if (kind === 'sqlite') {
    const { sqliteStore } = await import('../stores/sqlite/sqlite-store.js');
    return sqliteStore({ path, clock, migrations });
  }
  const { postgresStore } = await import('../stores/postgres/postgres-store.js');
  return postgresStore({ url, clock, migrations });
}
