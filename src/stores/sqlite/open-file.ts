import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { PawlError } from '../../errors.js';
import type { StoreClock } from '../../ports/clock.js';
import { openDatabase, type Database } from './driver.js';
import { configure } from './settings.js';
import { isBusy, isDamaged, storeError } from './store-error.js';

/** How often a file that others are opening as well is looked at again: for five seconds. */
const LOOK_AGAIN_MS = 5;
const MOST_LOOKS = 1_000;

export type OpenFileOptions = {
  readonly clock: Pick<StoreClock, 'after'>;
  /** Brings the tables up to this release. Done again if another process is in the way. */
  readonly prepare: (db: Database) => void;
};

/** Opens a database with the settings that every file of ours has. A locked one is waited for without blocking the event loop. */
export async function openFile(path: string, { clock, prepare }: OpenFileOptions): Promise<Database> {
  let db: Database | undefined;
  try {
    db = await openDatabase(path);
    for (let looks = 1; !isPrepared(db, prepare, looks === MOST_LOOKS); looks++) {
      await new Promise<void>((resolve) => {
        clock.after(LOOK_AGAIN_MS, resolve);
      });
    }
    return db;
  } catch (error) {
    db?.close();
    if (isReadOnly(path)) {
      throw new PawlError('STORE_READ_ONLY', { detail: `cannot write ${path} or its folder`, cause: error });
    }
    if (isDamaged(error)) {
      throw new PawlError('STORE_DAMAGED', { detail: `cannot open ${path}: ${String(error)}`, cause: error });
    }
    const known = storeError(error, `cannot open ${path}`);
    if (known instanceof PawlError) throw known;
    throw new PawlError('STORE_UNAVAILABLE', {
      detail: `cannot open ${path}: ${String(error)}`,
      cause: error,
    });
  }
}

/** False: another process is in the way. Its change to the write-ahead log is one that SQLite's own timeout does not wait for. */
function isPrepared(db: Database, prepare: (db: Database) => void, isLast: boolean): boolean {
  try {
    configure(db);
    prepare(db);
    return true;
  } catch (error) {
    if (isLast || !isBusy(error)) throw error;
    return false;
  }
}

/** On a file that is there and may not be written, SQLite's own answer is often that it cannot be opened. */
function isReadOnly(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch {
    return true;
  }
}
