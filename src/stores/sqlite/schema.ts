import { STATUSES } from '../../kernel/index.js';
import type { Migration } from '../migration.js';

/**
 * The states of the first release, as one text: to look for a word in it costs a tenth of an IN list, which SQLite
 * puts into a table of its own for every statement (bench/store.ts). A later release adds its own by a step of its own.
 */
const STATUS_LIST = STATUSES.join(' ');

/**
 * The schema, as numbered steps that only ever go forward. A step is never edited once it is released: workers of the
 * release before run on it too.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    oldest: 1,
    sql: `
  CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL UNIQUE,
    bucket INTEGER NOT NULL,
    tenant_id TEXT NOT NULL,
    task TEXT NOT NULL,
    queue TEXT NOT NULL,
    lane TEXT NOT NULL,
    gate TEXT NOT NULL,
    priority INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (instr(' ${STATUS_LIST} ', ' ' || status || ' ') > 0),
    rev INTEGER NOT NULL,
    attempt_id TEXT,
    incarnation TEXT,
    due_at INTEGER,
    ready INTEGER NOT NULL,
    held INTEGER NOT NULL DEFAULT 0,
    wake_at INTEGER,
    deadline_at INTEGER,
    inbox_rev INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    finished_at INTEGER,
    state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX jobs_claim ON jobs (lane, tenant_id, gate, priority DESC, due_at, job_id) WHERE ready = 1;
  CREATE INDEX jobs_timer ON jobs (due_at) WHERE ready = 0 AND held = 0 AND due_at IS NOT NULL;
  CREATE INDEX jobs_gate ON jobs (tenant_id, gate) WHERE incarnation IS NOT NULL AND gate <> '';
  CREATE INDEX jobs_wake ON jobs (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX jobs_deadline ON jobs (deadline_at) WHERE deadline_at IS NOT NULL;
  CREATE INDEX jobs_held ON jobs (incarnation) WHERE incarnation IS NOT NULL;
  CREATE INDEX jobs_retrying ON jobs (tenant_id) WHERE status = 'retrying';
  CREATE INDEX jobs_resting ON jobs (tenant_id) WHERE ready = 0 AND incarnation IS NULL AND finished_at IS NULL;
  CREATE INDEX jobs_ended_otherwise ON jobs (status) WHERE finished_at IS NOT NULL AND status <> 'succeeded';
  CREATE INDEX jobs_of_tenant ON jobs (tenant_id) WHERE tenant_id <> 'default';
  CREATE TABLE log (
    position INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    command_id TEXT NOT NULL,
    body TEXT NOT NULL,
    link TEXT NOT NULL,
    owns TEXT,
    UNIQUE (job, rev)
  ) STRICT;
  CREATE TABLE identities (
    tenant_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    job_id TEXT NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (tenant_id, kind, value)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX identities_expiry ON identities (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE effects (
    job INTEGER NOT NULL,
    step TEXT NOT NULL,
    occurrence INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    result TEXT,
    PRIMARY KEY (job, step, occurrence, entry)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE inbox (
    job INTEGER NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    consumed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (job, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX inbox_unread ON inbox (job) WHERE consumed = 0;
  CREATE TABLE workers (
    incarnation TEXT PRIMARY KEY,
    worker_id TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    lanes TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE news (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    lane TEXT NOT NULL
  ) STRICT;
  CREATE TABLE dlq_items (
    dlq_id TEXT PRIMARY KEY,
    job_id TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    status TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    item TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX dlq_items_open ON dlq_items (job_id) WHERE status = 'open';
  CREATE INDEX dlq_items_made ON dlq_items (created_at, dlq_id, tenant_id);
  CREATE TABLE holds (
    job INTEGER PRIMARY KEY,
    reason TEXT NOT NULL,
    held_by TEXT NOT NULL,
    since INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE paused_queues (
    queue TEXT PRIMARY KEY,
    paused_by TEXT NOT NULL,
    since INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE schedules (
    tenant_id TEXT NOT NULL,
    schedule_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    next_fire_at INTEGER,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_id, schedule_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX schedules_due ON schedules (next_fire_at) WHERE next_fire_at IS NOT NULL;
  CREATE TABLE outbox (
    entry_id TEXT PRIMARY KEY,
    job_id TEXT,
    kind TEXT NOT NULL,
    due_at INTEGER,
    tries INTEGER NOT NULL DEFAULT 0,
    body TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX outbox_due ON outbox (kind, due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE records (
    kind TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (kind, tenant_id, id)
  ) STRICT, WITHOUT ROWID;
  `,
  },
];
