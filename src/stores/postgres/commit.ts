import type { CommitItem, CommitReply } from '../../ports/store.js';
import { saveCarefully } from './commit-carefully.js';
import { NOW, type Queries, type Session } from './session.js';
import { changedJobs, LOG_COLUMNS, logBatch, NEW_COLUMNS, newJobs, setChanged } from './write-rows.js';

const SAVED: CommitReply = { ok: true, repeated: false };

export type Saved = { readonly reply: CommitReply; readonly now: number };

/**
 * Saves a group of commits: those of one kind together, in one statement that is its own transaction. Whatever does not
 * go through as hoped has written nothing and is sent again singly, with all that it takes to say why. That happens in
 * a lane of its own: a start that waits for someone else's key holds nobody up.
 */
export async function saveGroup(session: Session, items: readonly CommitItem[]): Promise<Promise<Saved>[]> {
  const seen = new Set<string>();
  const kinds = { creates: [] as CommitItem[], changes: [] as CommitItem[], records: [] as CommitItem[] };
  for (const item of items) {
    if (seen.has(item.jobId) || hasSideRows(item)) continue;
    seen.add(item.jobId);
    kinds[item.rev === 1 ? 'creates' : item.job === null ? 'records' : 'changes'].push(item);
  }
  const groups = await Promise.all([
    together(session, kinds.creates, saveCreates),
    together(session, kinds.changes, saveChanges),
    together(session, kinds.records, saveRecords),
  ]);
  const saved = new Map(groups.flatMap((group) => [...group]));
  const last = new Map<string, Promise<unknown>>();
  return items.map((item) => {
    const now = saved.get(item);
    if (now !== undefined) return Promise.resolve({ reply: SAVED, now });
    // In order within a job: a commit is never sent before the one that it follows.
    const turn = (last.get(item.jobId) ?? Promise.resolve()).then(() => saveCarefully(session, item));
    last.set(
      item.jobId,
      turn.catch(() => undefined),
    );
    return turn;
  });
}

/** Rare, and written one by one. */
function hasSideRows({ consumed, outbox, dlqItem }: CommitItem): boolean {
  return consumed.length > 0 || outbox.length > 0 || dlqItem !== null;
}

/** The ids of jobs whose commit went through, with spaces between, and the time. */
type Outcome = { readonly saved: string | null; readonly now: number };
type Save = (db: Queries, items: readonly CommitItem[]) => Promise<Outcome[]>;

/** Which of these commits went through, and when. */
async function together(
  session: Session,
  items: readonly CommitItem[],
  save: Save,
): Promise<Map<CommitItem, number>> {
  if (items.length === 0) return new Map();
  try {
    const [outcome] = await save(session.single, items);
    const saved = new Set(outcome?.saved?.split(' '));
    return new Map(
      items.filter(({ jobId }) => saved.has(jobId)).map((item) => [item, outcome?.now ?? 0] as const),
    );
  } catch (error) {
    if (!isConflict(error)) throw error;
    return new Map();
  }
}

const UNIQUE_VIOLATION = '23505';
const LOCK_NOT_AVAILABLE = '55P03';

/** Someone else's row stands in the way of one of them, or will once its transaction ends. */
function isConflict(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : '';
  return code === UNIQUE_VIOLATION || code === LOCK_NOT_AVAILABLE;
}

/** How long a group waits for a row that someone else has locked, before its items go singly. */
const PATIENCE = `patience AS MATERIALIZED (SELECT set_config('lock_timeout', '200ms', true))`;
const SAVED_IDS = `SELECT string_agg(job_id, ' ') AS saved, ${NOW} AS now`;

function saveCreates(db: Queries, items: readonly CommitItem[]): Promise<Outcome[]> {
  const jobs = newJobs(items, { alias: 'n', first: 2 });
  const log = logBatch(items, { alias: 'l', first: 2 + jobs.values.length });
  const wanted = items
    .flatMap(({ jobId, identities }) => identities.map((identity) => ({ jobId, ...identity })))
    .toSorted(inOrder);
  const first = 2 + jobs.values.length + log.values.length;
  const owned = `INSERT INTO pawl.identities (tenant_id, kind, value, job_id) SELECT w.* FROM patience,
     unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::text[], $${first + 3}::text[]) AS w`;
  return db.rows(
    `WITH ${PATIENCE},
     created AS (INSERT INTO pawl.jobs (${NEW_COLUMNS}, ready)
       SELECT n.*, n.due_at IS NOT NULL AND n.due_at <= ${NOW} FROM patience, ${jobs.from}),
     owned AS (${owned}),
     logged AS (INSERT INTO pawl.log (${LOG_COLUMNS}) SELECT l.* FROM ${log.from} RETURNING job_id)
     ${SAVED_IDS} FROM logged`,
    [
      db.fixedNow(),
      ...jobs.values,
      ...log.values,
      wanted.map(({ tenantId }) => tenantId),
      wanted.map(({ kind }) => kind),
      wanted.map(({ value }) => value),
      wanted.map(({ jobId }) => jobId),
    ],
  );
}

type Ordered = { readonly tenantId: string; readonly kind: string; readonly value: string };

/** Identities are taken in one order, so that two starts cannot wait for each other. */
export function inOrder(a: Ordered, b: Ordered): number {
  return byText(a.tenantId, b.tenantId) || byText(a.kind, b.kind) || byText(a.value, b.value);
}

const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Rows are locked in the order of their ids; a row that has gone on meanwhile is looked at again as it is then. */
function saveChanges(db: Queries, items: readonly CommitItem[]): Promise<Outcome[]> {
  const jobs = changedJobs(items, { alias: 'c', first: 4 });
  const log = logBatch(items, { alias: 'l', first: 4 + jobs.values.length });
  return db.rows(
    `WITH ${PATIENCE},
     ours AS MATERIALIZED (SELECT j.job_id FROM patience, pawl.jobs j
       JOIN unnest($4::text[], $2::text[], $3::int[]) AS g (job_id, attempt_id, inbox_rev) ON g.job_id = j.job_id
       WHERE (g.attempt_id IS NULL OR (j.attempt_id = g.attempt_id AND j.incarnation IS NOT NULL))
       AND (g.inbox_rev IS NULL OR j.inbox_rev = g.inbox_rev) ORDER BY j.job_id FOR UPDATE OF j),
     logged AS (INSERT INTO pawl.log (${LOG_COLUMNS}) SELECT l.* FROM ${log.from} JOIN ours ON ours.job_id = l.job_id
       WHERE EXISTS (SELECT 1 FROM pawl.log p WHERE p.job_id = l.job_id AND p.rev = l.rev - 1)
       ON CONFLICT DO NOTHING RETURNING job_id),
     changed AS (UPDATE pawl.jobs j SET ${setChanged(NOW)} FROM ${jobs.from} JOIN logged ON logged.job_id = c.job_id
       WHERE j.job_id = c.job_id RETURNING j.job_id)
     ${SAVED_IDS} FROM changed`,
    [
      db.fixedNow(),
      items.map(({ attemptId }) => attemptId),
      items.map(({ inboxRev }) => inboxRev),
      ...jobs.values,
      ...log.values,
    ],
  );
}

/** Step records never touch the job's row: the log's key is their fence. */
function saveRecords(db: Queries, items: readonly CommitItem[]): Promise<Outcome[]> {
  const log = logBatch(items, { alias: 'l', first: 2 });
  return db.rows(
    `WITH logged AS (INSERT INTO pawl.log (${LOG_COLUMNS}) SELECT l.* FROM ${log.from}
       WHERE EXISTS (SELECT 1 FROM pawl.log p WHERE p.job_id = l.job_id AND p.rev = l.rev - 1)
       ORDER BY l.job_id ON CONFLICT DO NOTHING RETURNING job_id)
     ${SAVED_IDS} FROM logged`,
    [db.fixedNow(), ...log.values],
  );
}
