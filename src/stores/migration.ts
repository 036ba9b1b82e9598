import { PawlError } from '../errors.js';

/** `verify`: leave the schema alone, and refuse to work on one that is older than this release. */
export type MigrationMode = 'migrate' | 'verify';

/**
 * One numbered step of a schema, forward only. Steps add before later ones take away: a release runs on the next one's
 * schema too, so that workers can be replaced one by one. A step that takes something away says which is the
 * oldest step whose release can do without it.
 */
export type Migration = { readonly sql: string; readonly oldest: number };

/** How far a database has come, and the oldest release that can work on it. Both 0 before the first step. */
export type SchemaVersion = { readonly version: number; readonly oldest: number };

export const NO_SCHEMA: SchemaVersion = { version: 0, oldest: 0 };

/** The steps that a database still lacks, none if it is ahead. One that has gone too far ahead is refused. */
export function pendingSteps(
  { version, oldest }: SchemaVersion,
  steps: readonly Migration[],
  mode: MigrationMode,
): readonly Migration[] {
  const known = steps.length;
  if (oldest > known) {
    throw new PawlError('STORE_TOO_NEW', {
      detail: `the schema is version ${version} and works from release schema ${oldest} on; this release knows ${known}`,
    });
  }
  if (version < known && mode === 'verify') {
    throw new PawlError('STORE_OUTDATED', {
      detail: `the schema is version ${version}, this release needs ${known}`,
    });
  }
  return steps.slice(version);
}

/** Writes down how far the database has come. */
export function recordSql(table: string, steps: readonly Migration[]): string {
  const oldest = steps.at(-1)?.oldest ?? 0;
  return `DELETE FROM ${table};\n  INSERT INTO ${table} (version, oldest) VALUES (${steps.length}, ${oldest});`;
}
