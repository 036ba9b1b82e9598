import type { SqliteFacts } from '../../stores/sqlite/examine.js';
import { fail, megabytes, ok, warn, type Check } from './check.js';

/** Earlier ones can corrupt a database in WAL mode when several processes write and one restarts. */
const SOUND_SINCE = [3, 51, 3] as const;
const MUCH_FREE_BYTES = 64 * 1_048_576;
/** It is taken back at a checkpoint, which an open reader keeps from happening. */
const LONG_WAL_BYTES = 256 * 1_048_576;

export function checkSqlite(facts: SqliteFacts): Check[] {
  const { version, journalMode, bytes, freeBytes, walBytes } = facts;
  const isWasteful = freeBytes > MUCH_FREE_BYTES && freeBytes > bytes / 2;
  return [
    isSound(version)
      ? ok('version', `SQLite ${version}`)
      : fail('version', `SQLite ${version} can corrupt a database: use ${SOUND_SINCE.join('.')} or later`, [
          'G5',
        ]),
    journalMode === 'wal'
      ? ok('durability', 'write-ahead log; every commit is synced to the disk')
      : fail('durability', `the journal mode is ${journalMode}: the file system has no shared memory`, [
          'G5 under F1',
        ]),
    isWasteful
      ? warn('bloat', `${megabytes(freeBytes)} of ${megabytes(bytes)} are free: VACUUM while no worker runs`)
      : ok('bloat', `${megabytes(bytes)}, of which ${megabytes(freeBytes)} are free`),
    walBytes > LONG_WAL_BYTES
      ? warn('log', `the write-ahead log has ${megabytes(walBytes)}: look for a reader that never ends`)
      : ok('log', `the write-ahead log has ${megabytes(walBytes)}`),
  ];
}

function isSound(version: string): boolean {
  const found = version.split('.').map(Number);
  const difference = SOUND_SINCE.map((part, i) => (found[i] ?? 0) - part).find((part) => part !== 0);
  return difference === undefined || difference > 0;
}
