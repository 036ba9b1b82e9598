import pg from 'pg';
import { batchesOf, RAW, type RawDatabase, type RawJob } from './raw-database.js';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS jobs (job_id text COLLATE "C" PRIMARY KEY, lane text NOT NULL, tenant_id text NOT NULL,
    priority int NOT NULL, due_at bigint, attempt_id text, holder text, state text NOT NULL,
    first_command text NOT NULL, first_body text NOT NULL, first_link text NOT NULL);
  CREATE INDEX IF NOT EXISTS due ON jobs (lane, tenant_id, priority DESC, due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS held ON jobs (holder) WHERE holder IS NOT NULL;
  CREATE TABLE IF NOT EXISTS log (job_id text COLLATE "C", rev int, command_id text NOT NULL, body text NOT NULL,
    link text NOT NULL, xid xid8 NOT NULL DEFAULT pg_current_xact_id(), PRIMARY KEY (job_id, rev));
  CREATE INDEX IF NOT EXISTS feed ON log (xid);
  CREATE TABLE IF NOT EXISTS created (xid xid8 NOT NULL DEFAULT pg_current_xact_id(), job_ids text[] NOT NULL);
  CREATE INDEX IF NOT EXISTS made ON created (xid);`;

const CREATE = `WITH job AS (INSERT INTO jobs (job_id, lane, tenant_id, priority, due_at, state, first_command, first_body, first_link)
    SELECT id, $5, 'acme', 0, $6::bigint, '{}', c, b, l
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS i (id, c, b, l))
  INSERT INTO created (job_ids) VALUES ($1::text[])`;

export const CLAIM = `WITH due AS (SELECT job_id FROM jobs WHERE lane = $1 AND tenant_id = 'acme' AND due_at <= $2
    ORDER BY priority DESC, due_at LIMIT $3 FOR UPDATE SKIP LOCKED),
  job AS (UPDATE jobs SET due_at = NULL, attempt_id = 'w/' || jobs.job_id, holder = 'w.1', state = $4
    FROM due WHERE jobs.job_id = due.job_id RETURNING jobs.job_id, state, first_body, first_link),
  logged AS (INSERT INTO log (job_id, rev, command_id, body, link) SELECT job_id, 2, job_id, $5, $6 FROM job)
  SELECT * FROM job`;

const STEP = `INSERT INTO log (job_id, rev, command_id, body, link)
  SELECT id, $2::int, id || '/' || $2::int, b, l FROM unnest($1::text[], $3::text[], $4::text[]) AS i (id, b, l)`;

const COMPLETE = `WITH job AS (UPDATE jobs SET holder = NULL, state = s FROM unnest($1::text[], $2::text[], $3::text[]) AS i (id, a, s)
    WHERE job_id = id AND attempt_id = a)
  INSERT INTO log (job_id, rev, command_id, body, link)
  SELECT id, $6::int, id, b, l FROM unnest($1::text[], $4::text[], $5::text[]) AS i (id, b, l)`;

/** On one connection, in multi-row statements, each a transaction of its own. */
export async function rawPostgres(url: string): Promise<RawDatabase> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  await db.query(SCHEMA);
  return {
    async create(items, batch) {
      for (const part of batchesOf(items, batch)) await create(db, part);
    },
    async finish(jobs, { batch, steps = 0, link }) {
      for (let finished = 0; finished < jobs;) {
        const ids = await claim(db, batch, link);
        if (ids.length === 0) throw new Error('nothing to claim');
        const links = ids.map(() => link);
        for (let step = 0; step < steps; step++) {
          const values = [ids, 3 + step, ids.map(() => RAW.step), links];
          await db.query({ name: 'step', text: STEP, values });
        }
        const attempts = ids.map((id) => `w/${id}`);
        const [states, ends] = [ids.map(() => RAW.ended), ids.map(() => RAW.end)];
        const values = [ids, attempts, states, ends, links, 3 + steps];
        await db.query({ name: 'complete', text: COMPLETE, values });
        finished += ids.length;
      }
    },
    async steps(count, link) {
      const ids = await claim(db, 1, link);
      const times: number[] = [];
      for (let step = 0; step < count; step++) {
        const from = performance.now();
        await db.query({ name: 'step', text: STEP, values: [ids, 3 + step, [RAW.step], [link]] });
        times.push(performance.now() - from);
      }
      return times;
    },
    close: () => db.end(),
  };
}

async function create(db: pg.Client, items: readonly RawJob[]): Promise<void> {
  const values = [
    items.map(({ jobId }) => jobId),
    items.map(({ commandId }) => commandId),
    items.map(({ body }) => body),
    items.map(({ link }) => link),
    RAW.lane,
    Date.now(),
  ];
  await db.query({ name: 'create', text: CREATE, values });
}

/** Ids of what was claimed. */
export async function claim(db: pg.Client, batch: number, link: string): Promise<string[]> {
  const values = [RAW.lane, Date.now(), batch, RAW.claimed, RAW.claim, link];
  const { rows } = await db.query<{ job_id: string }>({ name: 'claim', text: CLAIM, values });
  return rows.map(({ job_id }) => job_id);
}
