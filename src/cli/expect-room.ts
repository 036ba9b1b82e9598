import { dirname, resolve } from 'node:path';
import { parseStoreUrl } from '../client/open-store.js';
import { PawlError } from '../errors.js';
import { expectFolder, isOfSystem } from './write-file.js';

const NOT_ALLOWED: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** Scratch files go beside the store's own: throws for a folder that is not there, or may not be written. */
export function expectRoom(url: string): void {
  const { kind, path } = parseStoreUrl(url);
  if (kind !== 'sqlite') return;
  const folder = dirname(resolve(path));
  try {
    expectFolder(folder);
  } catch (cause) {
    if (!isOfSystem(cause)) throw cause;
    const code = NOT_ALLOWED.has(cause.code) ? 'STORE_READ_ONLY' : 'STORE_UNAVAILABLE';
    throw new PawlError(code, { detail: `no file can be made in ${folder} (${cause.code})`, cause });
  }
}
