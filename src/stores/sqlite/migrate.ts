import { PawlError } from '../../errors.js';
import type { Database } from './driver.js';
import { MIGRATIONS } from './schema.js';

/** Brings the schema up to this release. Several processes may try at once: the first one does it. */
export function migrate(db: Database): void {
  const before = versionOf(db);
  if (before > MIGRATIONS.length) {
    throw new PawlError('STORE_TOO_NEW', {
      detail: `the schema is version ${before}, this release knows ${MIGRATIONS.length}`,
    });
  }
  if (before === MIGRATIONS.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const step of MIGRATIONS.slice(versionOf(db))) db.exec(step);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

function versionOf(db: Database): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
}
