import { STATUSES } from '../../kernel/index.js';
import type { Migration } from '../migration.js';

/** The states of the first release. A later one adds its own by a step of its own. */
const STATUS_LIST = STATUSES.map((status) => `'${status}'`).join(', ');

/**
 * The schema, as numbered steps that only ever go forward. A step is never edited once it is released: workers of the
 * release before run on it too. Keys are time-ordered ids; there is no sequence, so nothing is shared between writers.
 * The first row of a job's log stands in the job's own row, and never changes; `history` is the whole log. Which jobs of a tenant a
 * statement has created, in the order of time, is one row of `created`: a job's row, which does change, would enter an index anew each time.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    oldest: 1,
    sql: `
  CREATE TABLE pawl.jobs (
    job_id text COLLATE "C" PRIMARY KEY,
    bucket int NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    task text NOT NULL,
    queue text NOT NULL,
    lane text COLLATE "C" NOT NULL,
    gate text COLLATE "C" NOT NULL,
    priority int NOT NULL,
    status text NOT NULL CHECK (status IN (${STATUS_LIST})),
    rev int NOT NULL,
    attempt_id text,
    incarnation text,
    due_at bigint,
    ready boolean NOT NULL,
    held boolean NOT NULL DEFAULT false,
    wake_at bigint,
    deadline_at bigint,
    inbox_rev int NOT NULL DEFAULT 0,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    finished_at bigint,
    created_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    state text NOT NULL,
    first_command text NOT NULL,
    first_body text NOT NULL,
    first_link text NOT NULL,
    owns text
  );
  CREATE INDEX jobs_claim ON pawl.jobs (lane, tenant_id, gate, (-priority), due_at, job_id) WHERE ready;
  CREATE INDEX jobs_timer ON pawl.jobs (due_at) WHERE NOT ready AND NOT held AND due_at IS NOT NULL;
  CREATE INDEX jobs_gate ON pawl.jobs (tenant_id, gate) WHERE incarnation IS NOT NULL AND gate <> '';
  CREATE INDEX jobs_wake ON pawl.jobs (wake_at, created_xid, job_id) WHERE wake_at IS NOT NULL;
  CREATE INDEX jobs_deadline ON pawl.jobs (deadline_at, created_xid, job_id) WHERE deadline_at IS NOT NULL;
  CREATE INDEX jobs_held ON pawl.jobs (incarnation) WHERE incarnation IS NOT NULL;
  CREATE INDEX jobs_retrying ON pawl.jobs (tenant_id) WHERE status = 'retrying';
  CREATE INDEX jobs_resting ON pawl.jobs (tenant_id) WHERE NOT ready AND incarnation IS NULL AND finished_at IS NULL;
  CREATE INDEX jobs_ended_otherwise ON pawl.jobs (status, created_xid, job_id) WHERE finished_at IS NOT NULL AND status <> 'succeeded';
  CREATE TABLE pawl.created (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    tenant_id text COLLATE "C" NOT NULL,
    job_ids text[] COLLATE "C" NOT NULL
  );
  ALTER TABLE pawl.created ALTER COLUMN job_ids SET STORAGE EXTERNAL, REPLICA IDENTITY FULL;
  CREATE INDEX created_order ON pawl.created (xid);
  CREATE INDEX created_of_tenant ON pawl.created (tenant_id, xid) WHERE tenant_id <> 'default';
  CREATE TABLE pawl.log (
    job_id text COLLATE "C" NOT NULL,
    rev int NOT NULL CHECK (rev > 1),
    command_id text NOT NULL,
    body text NOT NULL,
    link text NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (job_id, rev)
  );
  CREATE INDEX log_feed ON pawl.log (xid);
  CREATE VIEW pawl.history AS
    SELECT job_id, 1 AS rev, first_command AS command_id, first_body AS body, first_link AS link, created_xid AS xid FROM pawl.jobs
    UNION ALL SELECT job_id, rev, command_id, body, link, xid FROM pawl.log;
  CREATE TABLE pawl.purges (one boolean PRIMARY KEY DEFAULT true CHECK (one), number bigint NOT NULL);
  CREATE TABLE pawl.identities (
    tenant_id text NOT NULL,
    kind text NOT NULL,
    value text NOT NULL,
    job_id text NOT NULL,
    expires_at bigint,
    PRIMARY KEY (tenant_id, kind, value)
  );
  CREATE INDEX identities_expiry ON pawl.identities (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE pawl.effects (
    job_id text NOT NULL,
    step text COLLATE "C" NOT NULL,
    occurrence int NOT NULL,
    entry int NOT NULL,
    result text,
    PRIMARY KEY (job_id, step, occurrence, entry)
  );
  CREATE TABLE pawl.inbox (
    job_id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    payload text NOT NULL,
    received_at bigint NOT NULL,
    consumed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (job_id, key)
  );
  CREATE INDEX inbox_unread ON pawl.inbox (job_id) WHERE NOT consumed;
  CREATE TABLE pawl.workers (
    incarnation text PRIMARY KEY,
    worker_id text NOT NULL,
    lease_until bigint NOT NULL,
    dead boolean NOT NULL,
    lanes text NOT NULL
  );
  CREATE TABLE pawl.dlq_items (
    dlq_id text COLLATE "C" PRIMARY KEY,
    job_id text NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    status text NOT NULL,
    version int NOT NULL,
    created_at bigint NOT NULL,
    item text NOT NULL
  );
  CREATE INDEX dlq_items_open ON pawl.dlq_items (job_id) WHERE status = 'open';
  CREATE INDEX dlq_items_made ON pawl.dlq_items (created_at, dlq_id, tenant_id);
  CREATE TABLE pawl.gates (
    tenant_id text COLLATE "C" NOT NULL,
    gate text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, gate)
  );
  CREATE TABLE pawl.holds (
    job_id text PRIMARY KEY,
    reason text NOT NULL,
    held_by text NOT NULL,
    since bigint NOT NULL
  );
  CREATE TABLE pawl.paused_queues (
    queue text COLLATE "C" PRIMARY KEY,
    paused_by text NOT NULL,
    since bigint NOT NULL
  );
  CREATE TABLE pawl.schedules (
    tenant_id text COLLATE "C" NOT NULL,
    schedule_id text COLLATE "C" NOT NULL,
    version int NOT NULL,
    next_fire_at bigint,
    body text NOT NULL,
    PRIMARY KEY (tenant_id, schedule_id)
  );
  CREATE INDEX schedules_due ON pawl.schedules (next_fire_at) WHERE next_fire_at IS NOT NULL;
  CREATE TABLE pawl.outbox (
    entry_id text COLLATE "C" PRIMARY KEY,
    job_id text,
    kind text NOT NULL,
    due_at bigint,
    tries int NOT NULL DEFAULT 0,
    body text NOT NULL
  );
  CREATE INDEX outbox_due ON pawl.outbox (kind, due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE pawl.records (
    kind text COLLATE "C" NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    version int NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (kind, tenant_id, id)
  );
  `,
  },
];
