import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { PawlError } from '../../errors.js';
import { openDatabase, type Database } from './driver.js';
import { storeError } from './session.js';

/**
 * How much of the file is kept in memory, once that much of it is in use. Out of a million, a job took 87 µs with it, 97 with
 * half of it and 100 with SQLite's own 2 MB (middle of five rounds by turns); small files never get there.
 */
const CACHE_KB = 32_000;

/** Opens a database with the settings that every file of ours has. `prepare` brings its tables up to this release. */
export async function openFile(path: string, prepare: (db: Database) => void): Promise<Database> {
  let db: Database | undefined;
  try {
    db = await openDatabase(path);
    db.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    db.exec(`PRAGMA cache_size = -${CACHE_KB}`);
    prepare(db);
    // From here on a locked database is waited for without blocking the event loop.
    db.exec('PRAGMA busy_timeout = 0');
    return db;
  } catch (error) {
    db?.close();
    if (isReadOnly(path)) {
      throw new PawlError('STORE_READ_ONLY', { detail: `cannot write ${path} or its folder`, cause: error });
    }
    const known = storeError(error, `cannot open ${path}`);
    if (known instanceof PawlError) throw known;
    throw new PawlError('STORE_UNAVAILABLE', {
      detail: `cannot open ${path}: ${String(error)}`,
      cause: error,
    });
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
