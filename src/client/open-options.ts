import { PawlError } from '../errors.js';
import { invalidOption } from '../engine/options.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/store.js';
import { httpStore, type RemoteSession } from '../stores/http/http-store.js';
import { openStore, parseStoreUrl } from './open-store.js';

/** `session`: set where the store is a server's, which sees to everything but the handlers. */
export type Opened = { readonly store: Store; readonly session: RemoteSession | null };

/** Opens what an application was told to work on. */
export async function openOptions(
  { store, key, retention }: { store: string | Store; key?: string; retention?: unknown },
  { clock, log }: { clock: Clock; log: Logger },
): Promise<Opened> {
  expectGiven(store);
  const kind = typeof store === 'string' ? parseStoreUrl(store).kind : null;
  if (kind !== 'http') {
    if (key !== undefined)
      throw invalidOption('key', 'key is for the store of a server, http:// or https://');
    if (kind === 'memory') {
      log.warn('persistent storage is not enabled: jobs are visible in this process only');
    }
    return { store: typeof store === 'string' ? await openStore(store, { clock }) : store, session: null };
  }
  if (retention !== undefined) throw invalidOption('retention', 'retention is the server’s to see to');
  return httpStore({ url: store as string, key: key ?? null, clock });
}

/** Of one who writes without types: a variable of the environment that is not set, mostly. */
function expectGiven(store: unknown): void {
  if (typeof store === 'string' || (typeof store === 'object' && store !== null)) return;
  throw new PawlError('STORE_URL_INVALID', { detail: `the store is missing: it is ${String(store)}` });
}
