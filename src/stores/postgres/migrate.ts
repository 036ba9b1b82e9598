import { PawlError } from '../../errors.js';
import { NO_SCHEMA, pendingSteps, recordSql, type MigrationMode, type SchemaVersion } from '../migration.js';
import { MIGRATIONS } from './schema.js';
import type { Queries, Session } from './session.js';

/** Holds other processes back while one migrates. Any number will do, as long as nobody else uses it. */
const MIGRATION_LOCK = 7_295_001;

const PREPARE = `
  CREATE SCHEMA IF NOT EXISTS pawl;
  CREATE TABLE IF NOT EXISTS pawl.schema_version (version int NOT NULL, oldest int NOT NULL);`;
const RECORD = recordSql('pawl.schema_version', MIGRATIONS);

/** Brings the schema up to this release, or only looks. Several processes may try at once: the first one does it. */
export async function migrate(session: Session, mode: MigrationMode): Promise<void> {
  const before = await versionOf(session.single);
  if (pendingSteps(before, MIGRATIONS, mode).length === 0) return;
  await session.patient(async (db) => {
    await db.rows('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    for (const sql of statementsOf(PREPARE)) await db.rows(sql);
    const pending = pendingSteps(await versionOf(db), MIGRATIONS, mode);
    if (pending.length === 0) return;
    for (const { sql: step } of pending) for (const sql of statementsOf(step)) await db.rows(sql);
    for (const sql of statementsOf(RECORD)) await db.rows(sql);
  });
}

/** The SQL that would bring the schema up to this release, as someone may run it by hand; empty if nothing is left to do. */
export async function plan(session: Session): Promise<string> {
  const pending = pendingSteps(await versionOf(session.single), MIGRATIONS, 'migrate');
  if (pending.length === 0) return '';
  return `BEGIN;${PREPARE}${pending.map(({ sql }) => sql).join('')}${RECORD}\nCOMMIT;\n`;
}

async function versionOf(db: Queries): Promise<SchemaVersion> {
  const [known] = await db.rows<{ there: boolean }>(
    "SELECT to_regclass('pawl.schema_version') IS NOT NULL AS there",
  );
  if (!known) throw new PawlError('STORE_UNAVAILABLE', { detail: 'the server does not answer' });
  if (!known.there) return NO_SCHEMA;
  const [row = NO_SCHEMA] = await db.rows<SchemaVersion>('SELECT version, oldest FROM pawl.schema_version');
  return row;
}

function statementsOf(step: string): string[] {
  return step.split(';').filter((sql) => sql.trim() !== '');
}
