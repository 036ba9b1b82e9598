import { bucketOf, rowOf, type Job } from '../../kernel/index.js';
import type { CommitItem } from '../../ports/store.js';
import { encodeState } from '../job-state.js';
import type { Queries } from './session.js';

const column = <T, V>(items: readonly T[], value: (item: T) => V): V[] => items.map(value);

/** Appends log rows, in one statement. Answers with the jobs whose revision was free and follows the head. */
export async function appendLog(db: Queries, items: readonly CommitItem[]): Promise<Set<string>> {
  const rows = await db.rows<{ job_id: string }>(
    `INSERT INTO pawl.log (job_id, rev, command_id, body, link)
     SELECT i.job_id, i.rev, i.command_id, i.body, i.link
     FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[]) AS i (job_id, rev, command_id, body, link)
     WHERE i.rev = 1 OR EXISTS (SELECT 1 FROM pawl.log p WHERE p.job_id = i.job_id AND p.rev = i.rev - 1)
     ORDER BY i.job_id ON CONFLICT DO NOTHING RETURNING job_id`,
    [
      column(items, ({ jobId }) => jobId),
      column(items, ({ rev }) => rev),
      column(items, ({ commandId }) => commandId),
      column(items, ({ body }) => body),
      column(items, ({ link }) => link),
    ],
  );
  return new Set(rows.map(({ job_id }) => job_id));
}

/** Inserts the rows of new jobs. Answers with those that were not there before. */
export async function insertJobs(db: Queries, jobs: readonly Job[]): Promise<Set<string>> {
  const rows = jobs.map((job) => ({ ...rowOf(job), state: encodeState(job) }));
  const inserted = await db.rows<{ job_id: string }>(
    `INSERT INTO pawl.jobs (job_id, bucket, tenant_id, task, queue, lane, priority, created_at,
     status, rev, attempt_id, incarnation, due_at, wake_at, deadline_at, updated_at, finished_at, state)
     SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::bigint[],
     $9::text[], $10::int[], $11::text[], $12::text[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::text[])
     ON CONFLICT DO NOTHING RETURNING job_id`,
    [
      column(rows, ({ jobId }) => jobId),
      column(rows, ({ jobId }) => bucketOf(jobId)),
      column(rows, ({ tenantId }) => tenantId),
      column(rows, ({ task }) => task),
      column(rows, ({ queue }) => queue),
      column(rows, ({ lane }) => lane),
      column(rows, ({ priority }) => priority),
      column(rows, ({ createdAt }) => createdAt),
      ...changing(jobs),
    ],
  );
  return new Set(inserted.map(({ job_id }) => job_id));
}

/** Brings the rows of existing jobs up to date. Their locks are held already. */
export async function updateJobs(db: Queries, jobs: readonly Job[]): Promise<void> {
  if (jobs.length === 0) return;
  await db.rows(
    `UPDATE pawl.jobs SET status = i.status, rev = i.rev, attempt_id = i.attempt_id, incarnation = i.incarnation, due_at = i.due_at,
     wake_at = i.wake_at, deadline_at = i.deadline_at, updated_at = i.updated_at, finished_at = i.finished_at, state = i.state
     FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[])
     AS i (job_id, status, rev, attempt_id, incarnation, due_at, wake_at, deadline_at, updated_at, finished_at, state)
     WHERE jobs.job_id = i.job_id`,
    [jobs.map(({ spec }) => spec.jobId), ...changing(jobs)],
  );
}

/** The columns that change, in the order in which both statements above take them. */
function changing(jobs: readonly Job[]): unknown[][] {
  const rows = jobs.map(rowOf);
  return [
    column(rows, ({ status }) => status),
    column(rows, ({ rev }) => rev),
    column(rows, ({ attemptId }) => attemptId),
    column(rows, ({ incarnation }) => incarnation),
    column(rows, ({ dueAt }) => dueAt),
    column(rows, ({ wakeAt }) => wakeAt),
    column(rows, ({ deadlineAt }) => deadlineAt),
    column(rows, ({ updatedAt }) => updatedAt),
    column(rows, ({ finishedAt }) => finishedAt),
    jobs.map(encodeState),
  ];
}
