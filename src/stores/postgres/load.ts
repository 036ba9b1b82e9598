import { must } from '../../kernel/index.js';
import type { Loaded, LogRow, Reply } from '../../ports/store.js';
import type { Answers } from '../group-commit.js';
import {
  assemble,
  assembleIdle,
  STORED_COLUMNS,
  type IdleRow,
  type RestOfIdle,
  type StoredRow,
} from '../job-state.js';
import { isStill } from '../recent-jobs.js';
import type { ReadAhead } from '../read-ahead.js';
import type { UnreadableJobs } from '../unreadable-jobs.js';
import { NOW, type Queries, type Session } from './session.js';

type Stored = StoredRow & {
  readonly now: number;
  readonly log_rev: number;
  readonly command_id: string;
  readonly body: string;
  readonly link: string;
};

/** What is read of an id that no job has. */
type Unknown = { readonly now: number; readonly job_id: null };

/** A job that nobody runs, and how to find out whether it is the one that is remembered. */
export type Idle = IdleRow & {
  /** What makes it whole; null if that was not read with it. */
  readonly rest: RestOfIdle | null;
};

/** Jobs whose first log row has no more bytes are read with the search that finds them. */
const SHORT = 8_192;

/**
 * What a search selects of `jobs j` to have them whole; and what it selects besides, where it calls what it found `found`. Of most
 * jobs the first row of the log is the last as well.
 */
export const REST_COLUMNS = `j.status, j.attempt_id, j.updated_at, j.state,
   CASE WHEN octet_length(j.first_body) <= ${SHORT} THEN j.first_body END AS created, j.first_link`;
export const REST = `CASE WHEN found.rev = 1 THEN found.first_link
   ELSE (SELECT l.link FROM pawl.log l WHERE l.job_id = found.job_id AND l.rev = found.rev) END AS link`;

/** As a search found it. */
export type FoundRest = Omit<RestOfIdle, 'created' | 'link'> & Record<'created' | 'link', string | null>;

/**
 * A row that changed while the search was under way is locked as it is now, but the log is seen as it was when the search
 * began, without its last link: then there is nothing that would fit, and the job is read anew.
 */
export function foundRest(row: FoundRest): RestOfIdle | null {
  const { status, attempt_id, updated_at, state, created, link } = row;
  return created === null || link === null ? null : { status, attempt_id, updated_at, state, created, link };
}

/** Who is told of a job that cannot be read, and when. */
type Reading = { readonly unreadable: UnreadableJobs; readonly now: number };

/**
 * Jobs that the transaction has locked and nobody runs, made whole. What this process saved itself is at hand. Those that cannot
 * be read are left out.
 */
export async function loadIdle(
  db: Queries,
  { recent, reading, ...read }: Reading & { recent: Session['recent']; reading: ReadAhead },
  rows: readonly Idle[],
): Promise<Loaded[]> {
  let unknown = 0;
  const found = rows.map((row): Loaded | 'missing' | null => {
    const known = recent.get(row.job_id);
    if (known && isStill(known.job, row)) return { inboxRev: row.inbox_rev, ...known };
    unknown += 1;
    const { job_id, rest } = row;
    return rest ? read.unreadable.reading(job_id, read.now, () => assembleIdle(row, rest)) : 'missing';
  });
  reading.claimed(rows.length, unknown);
  const missing = rows.filter((_, i) => found[i] === 'missing').map(({ job_id }) => job_id);
  const loaded = new Map((await loadAll(db, missing, read)).map((one) => [one.job.spec.jobId, one]));
  return rows.flatMap(({ job_id }, i) => {
    const one = found[i];
    return (one === 'missing' ? loaded.get(job_id) : one) ?? [];
  });
}

const COLUMNS = STORED_COLUMNS.map((column) => `j.${column}`).join(', ');

/** A job's row, and the rows of its log that it takes to put it together. */
type Parts = { readonly stored: Stored; readonly log: LogRow[] };

const whole = ({ stored, log }: Parts): Loaded => assemble(stored, log);

/** Jobs, read in one snapshot. Unknown ids are left out, and so are those that cannot be read. */
export async function loadAll(
  db: Queries,
  jobIds: readonly string[],
  { unreadable, now }: Reading,
): Promise<Loaded[]> {
  if (jobIds.length === 0) return [];
  const { jobs } = await readJobs(db, jobIds);
  return jobIds.flatMap((jobId) => {
    const parts = jobs.get(jobId);
    return (parts && unreadable.reading(jobId, now, () => whole(parts))) ?? [];
  });
}

/**
 * For those who ask at the same time, each for one: a single statement, which tells the time as well. A job that cannot be read
 * is an error for whoever asked for it.
 */
export async function loadEach(
  db: Queries,
  jobIds: readonly string[],
): Promise<Answers<Reply<{ found: Loaded | null }>>> {
  const { now, jobs } = await readJobs(db, [...new Set(jobIds)]);
  return jobIds.map((jobId) => {
    const parts = jobs.get(jobId);
    try {
      return { now, found: parts ? whole(parts) : null };
    } catch (error) {
      return Promise.reject(error);
    }
  });
}

async function readJobs(
  db: Queries,
  jobIds: readonly string[],
): Promise<{ now: number; jobs: ReadonlyMap<string, Parts> }> {
  const rows = await db.rows<Stored | Unknown>(
    `SELECT ${NOW} AS now, found.* FROM unnest($2::text[]) AS i (job_id) LEFT JOIN LATERAL (
       SELECT ${COLUMNS}, l.rev AS log_rev, l.command_id, l.body, l.link FROM pawl.jobs j,
       LATERAL (SELECT 1 AS rev, j.first_command AS command_id, j.first_body AS body, j.first_link AS link UNION ALL
         SELECT rev, command_id, body, link FROM pawl.log WHERE log.job_id = j.job_id AND log.rev >= j.rev) l
       WHERE j.job_id = i.job_id) found ON true
     ORDER BY found.job_id, found.log_rev`,
    [db.fixedNow(), jobIds.map(readable)],
  );
  const jobs = new Map<string, Parts>();
  for (const stored of rows) {
    if (stored.job_id === null) continue;
    const parts = jobs.get(stored.job_id) ?? { stored, log: [] };
    parts.log.push({
      jobId: stored.job_id,
      rev: stored.log_rev,
      commandId: stored.command_id,
      body: stored.body,
      link: stored.link,
    });
    jobs.set(stored.job_id, parts);
  }
  return { now: must(rows[0], 'each id has a row').now, jobs };
}

/** A text that the server cannot read is nobody's id. */
const readable = (jobId: string): string => (jobId.includes('\u0000') ? '' : jobId);
