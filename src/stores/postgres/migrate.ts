import { PawlError } from '../../errors.js';
import { MIGRATIONS } from './schema.js';
import type { Session } from './session.js';

/** Holds other processes back while one migrates. Any number will do, as long as nobody else uses it. */
const MIGRATION_LOCK = 7_295_001;

/** Brings the schema up to this release. Several processes may try at once: the first one does it. */
export async function migrate(session: Session): Promise<void> {
  await session.transaction(async (db) => {
    await db.rows('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await db.rows('CREATE SCHEMA IF NOT EXISTS pawl');
    await db.rows('CREATE TABLE IF NOT EXISTS pawl.schema_version (version int NOT NULL)');
    const [row] = await db.rows<{ version: number }>('SELECT version FROM pawl.schema_version');
    const before = row?.version ?? 0;
    if (before > MIGRATIONS.length) {
      throw new PawlError('STORE_TOO_NEW', {
        detail: `the schema is version ${before}, this release knows ${MIGRATIONS.length}`,
      });
    }
    if (before === MIGRATIONS.length) return;
    const statements = MIGRATIONS.slice(before).flatMap((step) =>
      step.split(';').filter((sql) => sql.trim() !== ''),
    );
    for (const sql of statements) await db.rows(sql);
    await db.rows('DELETE FROM pawl.schema_version');
    await db.rows('INSERT INTO pawl.schema_version VALUES ($1)', [MIGRATIONS.length]);
  });
}
