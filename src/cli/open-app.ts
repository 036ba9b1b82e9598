import { existsSync } from 'node:fs';
import { openStore, parseStoreUrl } from '../client/open-store.js';
import { Pawl, pawl, type Inside } from '../client/pawl.js';
import { systemClock } from '../client/system-clock.js';
import { PawlError } from '../errors.js';
import { storeOf } from './config/settings.js';
import type { Flags, Shell } from './shell.js';

export type OpenApp = Inside & { readonly app: Pawl };

/**
 * Opens the store that is meant, for as long as a command works on it. A store is only made by commands that put
 * something into it: the others would find nothing in a new one, and a mistyped name would go unnoticed.
 */
export async function withApp(
  shell: Shell,
  flags: Flags,
  work: (open: OpenApp) => Promise<number>,
  { creates = false }: { creates?: boolean } = {},
): Promise<number> {
  const url = await storeOf(flags, shell);
  if (!creates) expectStore(url);
  const store = await openStore(url, { clock: systemClock, migrations: creates ? 'migrate' : 'verify' });
  const app = await pawl({ store });
  try {
    return await work({ app, ...Pawl.inside(app) });
  } finally {
    await app.close();
  }
}

/** Throws STORE_UNAVAILABLE for a file that is not there. */
export function expectStore(url: string): void {
  const { kind, path } = parseStoreUrl(url);
  if (kind === 'sqlite' && path !== ':memory:' && !existsSync(path)) {
    throw new PawlError('STORE_UNAVAILABLE', { detail: `there is no database ${path}` });
  }
}
