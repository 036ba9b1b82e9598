import { NO_SCHEMA, pendingSteps, recordSql, type MigrationMode, type SchemaVersion } from '../migration.js';
import type { Database } from './driver.js';
import { MIGRATIONS } from './schema.js';

const PREPARE = `
  CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL, oldest INTEGER NOT NULL) STRICT;`;
const RECORD = recordSql('schema_version', MIGRATIONS);

/** Brings the schema up to this release, or only looks. Several processes may try at once: the first one does it. */
export function migrate(db: Database, mode: MigrationMode): void {
  if (pendingSteps(versionOf(db), MIGRATIONS, mode).length === 0) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(PREPARE);
    const pending = pendingSteps(versionOf(db), MIGRATIONS, mode);
    for (const { sql } of pending) db.exec(sql);
    if (pending.length > 0) db.exec(RECORD);
    db.exec('COMMIT');
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

function rollBack(db: Database): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // After some errors, a full disk among them, SQLite has rolled back by itself. What went wrong is thrown anyway.
  }
}

/** The SQL that would bring the schema up to this release; empty if nothing is left to do. */
export function plan(db: Database): string {
  const pending = pendingSteps(versionOf(db), MIGRATIONS, 'migrate');
  if (pending.length === 0) return '';
  return `BEGIN IMMEDIATE;${PREPARE}${pending.map(({ sql }) => sql).join('')}${RECORD}\nCOMMIT;\n`;
}

function versionOf(db: Database): SchemaVersion {
  const there = db
    .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'")
    .get();
  if (!there) return NO_SCHEMA;
  const row = db.prepare('SELECT version, oldest FROM schema_version').get();
  return { version: Number(row?.['version'] ?? 0), oldest: Number(row?.['oldest'] ?? 0) };
}
