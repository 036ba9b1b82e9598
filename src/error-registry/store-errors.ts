import type { ErrorEntry } from './error-entry.js';

export type StoreErrorCode =
  | 'STORE_BUSY'
  | 'STORE_TOO_NEW'
  | 'STORE_UNAVAILABLE'
  | 'STORE_URL_INVALID'
  | 'STORE_OUTDATED'
  | 'STORE_READ_ONLY'
  | 'STORE_FULL'
  | 'STORE_DAMAGED'
  | 'STORE_ACCESS_DENIED'
  | 'TX_UNSUPPORTED'
  | 'REMOTE_UNSUPPORTED'
  | 'EVENT_UNREADABLE'
  | 'EVENT_TOO_NEW'
  | 'VERSION_CONFLICT'
  | 'RUN_STATE_UNREADABLE';

/** What a store, or the log in it, fails with. */
export const STORE_ERRORS: Readonly<Record<StoreErrorCode, ErrorEntry>> = {
  STORE_BUSY: {
    class: 'transient',
    retryable: true,
    meaning: 'Another process kept the store locked for too long, or too many requests wait for it.',
    advice:
      'Look for a long transaction, such as an open shell on the database file; or ask for less at once.',
  },
  STORE_TOO_NEW: {
    class: 'permanent',
    retryable: false,
    meaning: 'The store was migrated by a later release.',
    advice: 'Upgrade this process.',
  },
  STORE_UNAVAILABLE: {
    class: 'transient',
    retryable: true,
    meaning: 'The store cannot be reached, or cannot be written to.',
    advice: 'Check its address, that it is up, and that there is space left.',
  },
  STORE_URL_INVALID: {
    class: 'validation',
    retryable: false,
    meaning: 'The address of the store is not one.',
    advice:
      'Use `memory:`, `sqlite:` and a path, `postgres://user@host/database`, or `https://host` of a server.',
  },
  STORE_OUTDATED: {
    class: 'permanent',
    retryable: false,
    meaning: "The store's schema is older than this release, and it was opened without leave to change it.",
    advice:
      'Run `pawl migrate`, or have someone with the right to change the schema run what `pawl migrate --dry-run` prints.',
  },
  STORE_READ_ONLY: {
    class: 'transient',
    retryable: true,
    meaning: 'The store can be read but not written.',
    advice: 'Give this user write access to the file and its folder, or connect to the primary server.',
  },
  STORE_DAMAGED: {
    class: 'permanent',
    retryable: false,
    meaning: 'The file is no database of SQLite, or it is damaged.',
    advice: 'Check the path. If it is the right one, restore a backup of it.',
  },
  STORE_FULL: {
    class: 'transient',
    retryable: true,
    meaning:
      'The disk under the store is full, or a quota or a limit on the size of a file is reached. Nothing of what was asked for has been saved.',
    advice: 'Free some space; work goes on by itself.',
  },
  STORE_ACCESS_DENIED: {
    class: 'transient',
    retryable: true,
    meaning: 'The store refuses this user or password, or the user lacks a right.',
    advice:
      'Correct the user and password in the address of the store, or grant the user the rights on schema pawl.',
  },
  TX_UNSUPPORTED: {
    class: 'validation',
    retryable: false,
    meaning: 'This store cannot save within a transaction of the application, or not within this one.',
    advice:
      'Use Postgres, and a `pg` client of the same database whose transaction is open and has not failed.',
  },
  REMOTE_UNSUPPORTED: {
    class: 'validation',
    retryable: false,
    meaning: 'This takes more than an application has that reaches its store through a server.',
    advice: "Use the server's API or CLI for it, or open the store itself.",
  },
  EVENT_UNREADABLE: {
    class: 'permanent',
    retryable: false,
    meaning: 'A row of the event log is damaged.',
    advice: 'Restore it from a backup; `verify` tells which rows are affected.',
  },
  EVENT_TOO_NEW: {
    class: 'permanent',
    retryable: false,
    meaning: 'A row of the event log was written by a later release.',
    advice: 'Upgrade this process.',
  },
  VERSION_CONFLICT: {
    class: 'business_rule',
    retryable: true,
    meaning: 'The state of the run was changed by another since it was read. Nothing was saved.',
    advice: 'Read it again, and apply the change to what is there now.',
  },
  RUN_STATE_UNREADABLE: {
    class: 'permanent',
    retryable: false,
    meaning: 'What is stored of a run is damaged, or was written by something else.',
    advice: 'Restore it from a backup, or move it away.',
  },
};
