import { must } from '../../kernel/index.js';
import type { EffectResult, Message, NewMessage, Reply } from '../../ports/store.js';
import type { Answers } from '../group-commit.js';
import { batch, type Column } from './batch.js';
import { FIRST_FOR_A_ROW_MS, patiently, type Wanted } from './lock-waits.js';
import { oneAtATime } from './one-at-a-time.js';
import { NOW, type Queries, type Session } from './session.js';

type FirstOrNot = Reply<{ first: boolean }>;

/** Results that came together. One whose job somebody has locked waits for it by itself, and holds up nobody else. */
export function putEffects(
  session: Pick<Session, 'listed' | 'careful' | 'waits'>,
  results: readonly EffectResult[],
): Promise<Answers<FirstOrNot>> {
  return oneAtATime(results, entryOf, async (different) => {
    const { now, held, written } = await putUnlocked(session.listed, different);
    return different.map((result, n) =>
      held.has(n + 1)
        ? { now, first: written.has(entryOf(result)) }
        : patiently(session, rowOf(result), (db) => putEffect(db, result)),
    );
  });
}

const rowOf = ({ jobId }: EffectResult): Wanted => ({
  what: `job ${jobId}`,
  names: [jobId],
  firstMs: FIRST_FOR_A_ROW_MS,
});

type Entry = Omit<EffectResult, 'result'>;

const entryOf = ({ jobId, step, occurrence, entry }: Entry): string =>
  `${jobId} ${entry} ${occurrence} ${step}`;

const EFFECT: readonly Column<EffectResult>[] = [
  ['job_id', 'text', ({ jobId }) => jobId],
  ['step', 'text', ({ step }) => step],
  ['occurrence', 'int', ({ occurrence }) => occurrence],
  ['entry', 'int', ({ entry }) => entry],
  ['result', 'text', ({ result }) => result],
];

const WRITTEN = `INSERT INTO pawl.effects (job_id, step, occurrence, entry, result)
       SELECT job_id, step, occurrence, entry, result FROM held ORDER BY job_id, step COLLATE "C", occurrence, entry
       ON CONFLICT (job_id, step, occurrence, entry) DO UPDATE SET result = excluded.result
       WHERE effects.result IS NULL AND excluded.result IS NOT NULL`;

/** The job's row is held meanwhile: the job is not purged, and the entry is not closed. */
async function putEffect(db: Queries, result: EffectResult): Promise<FirstOrNot> {
  const { from, values } = batch(EFFECT, [result], { alias: 'a', first: 2 });
  const [put] = await db.rows<FirstOrNot>(
    `WITH held AS MATERIALIZED (SELECT a.* FROM ${from},
       LATERAL (SELECT 1 FROM pawl.jobs j WHERE j.job_id = a.job_id FOR KEY SHARE) AS job),
     written AS (${WRITTEN} RETURNING 1)
     SELECT ${NOW} AS now, EXISTS (SELECT 1 FROM written) AS first`,
    [db.fixedNow(), ...values],
  );
  return must(put, 'the time is always told');
}

/** The numbers of those whose jobs are there, and are locked by nobody else; and the entries that were written. */
async function putUnlocked(
  db: Queries,
  results: readonly EffectResult[],
): Promise<{ now: number; held: ReadonlySet<number>; written: ReadonlySet<string> }> {
  const numbered = results.map((result, n) => ({ ...result, number: n + 1 }));
  const { from, values } = batch(NUMBERED, numbered, { alias: 'a', first: 2 });
  const rows = await db.rows<{ now: number; number: number | null } & Entry>(
    `WITH held AS MATERIALIZED (SELECT a.* FROM ${from},
       LATERAL (SELECT 1 FROM pawl.jobs j WHERE j.job_id = a.job_id FOR KEY SHARE SKIP LOCKED) AS job),
     written AS (${WRITTEN} RETURNING job_id, step, occurrence, entry)
     SELECT ${NOW} AS now, NULL::int AS number, job_id AS "jobId", step, occurrence, entry FROM written
     UNION ALL SELECT ${NOW}, number, NULL, NULL, NULL, NULL FROM held`,
    [db.fixedNow(), ...values],
  );
  return {
    now: rows[0]?.now ?? (await db.now()),
    held: new Set(rows.flatMap(({ number }) => number ?? [])),
    written: new Set(rows.flatMap((row) => (row.number === null ? [entryOf(row)] : []))),
  };
}

const NUMBERED: readonly Column<EffectResult & { readonly number: number }>[] = [
  ['number', 'int', ({ number }) => number],
  ...EFFECT,
];

export async function effects(db: Queries, jobId: string): Promise<Reply<{ results: EffectResult[] }>> {
  const results = await db.rows<Omit<EffectResult, 'jobId'>>(
    'SELECT step, occurrence, entry, result FROM pawl.effects WHERE job_id = $1 ORDER BY step, occurrence, entry',
    [jobId],
  );
  return { now: await db.now(), results: results.map((row) => ({ jobId, ...row })) };
}

type Put = Reply<{ outcome: 'kept' | 'repeated' | 'no job' }>;

/**
 * Messages that came together, in one transaction. The jobs' rows are locked first, in the order of their ids: a wait that
 * begins at the same moment sees the inbox before or after, never between.
 */
export async function putMessages(db: Queries, messages: readonly NewMessage[]): Promise<Put[]> {
  const now = await db.now();
  const jobs = await db.rows<{ job_id: string }>(
    'SELECT job_id FROM pawl.jobs WHERE job_id = ANY($1::text[]) ORDER BY job_id FOR UPDATE',
    [[...new Set(messages.map(({ jobId }) => jobId))]],
  );
  const there = new Set(jobs.map((job) => job.job_id));
  const put = messages.filter(({ jobId }) => there.has(jobId));
  const kept = await db.rows<{ job_id: string; key: string }>(
    `INSERT INTO pawl.inbox (job_id, key, payload, received_at)
     SELECT job_id, key, payload, $4 FROM unnest($1::text[], $2::text[], $3::text[]) AS new (job_id, key, payload)
     ON CONFLICT DO NOTHING RETURNING job_id, key`,
    [put.map(({ jobId }) => jobId), put.map(({ key }) => key), put.map(({ payload }) => payload), now],
  );
  await db.rows(
    `UPDATE pawl.jobs SET inbox_rev = inbox_rev + new.messages
     FROM (SELECT job_id, count(*)::int AS messages FROM unnest($1::text[]) AS kept (job_id) GROUP BY job_id) AS new
     WHERE jobs.job_id = new.job_id`,
    [kept.map((message) => message.job_id)],
  );
  const isNew = new Set(kept.map((message) => nameOf(message.job_id, message.key)));
  return messages.map(({ jobId, key }) => {
    if (!there.has(jobId)) return { now, outcome: 'no job' };
    // Of two with one key in one group, the first was kept.
    return { now, outcome: isNew.delete(nameOf(jobId, key)) ? 'kept' : 'repeated' };
  });
}

const nameOf = (jobId: string, key: string): string => `${jobId} ${key}`;

type Inbox = { readonly messages: Message[]; readonly inboxRev: number };
type InboxRow = { readonly now: number; readonly inboxRev: number; readonly jobId: string };

/** How far each inbox had come and what was in it, of one moment: for jobs that begin to wait at the same time. */
export async function inboxes(db: Queries, jobIds: readonly string[]): Promise<Reply<Inbox>[]> {
  const rows = await db.rows<InboxRow & (Omit<Message, 'jobId'> | { key: null })>(
    `SELECT ${NOW} AS now, i.job_id AS "jobId", coalesce(j.inbox_rev, 0) AS "inboxRev", m.key, m.payload,
     m.received_at AS "receivedAt" FROM unnest($2::text[]) AS i (job_id) LEFT JOIN pawl.jobs j ON j.job_id = i.job_id
     LEFT JOIN pawl.inbox m ON m.job_id = i.job_id AND NOT m.consumed ORDER BY i.job_id, m.received_at, m.key`,
    [db.fixedNow(), [...new Set(jobIds)]],
  );
  const found = new Map<string, Reply<Inbox>>();
  for (const row of rows) {
    const { now, jobId, inboxRev } = row;
    const inbox = found.get(jobId) ?? { now, inboxRev, messages: [] };
    found.set(jobId, inbox);
    if (row.key !== null)
      inbox.messages.push({ jobId, key: row.key, payload: row.payload, receivedAt: row.receivedAt });
  }
  return jobIds.map((jobId) => must(found.get(jobId), 'each job has a row'));
}

export async function unread(
  db: Queries,
  { after, limit }: { after: string | null; limit: number },
): Promise<Reply<{ jobIds: string[]; next: string | null }>> {
  const rows = await db.rows<{ job_id: string }>(
    `SELECT DISTINCT job_id FROM pawl.inbox JOIN pawl.jobs USING (job_id)
     WHERE NOT consumed AND job_id > $1 AND status = 'waiting' ORDER BY job_id LIMIT $2`,
    [after ?? '', limit],
  );
  const jobIds = rows.map(({ job_id }) => job_id);
  return { now: await db.now(), jobIds, next: jobIds.length === limit ? (jobIds.at(-1) ?? null) : null };
}
