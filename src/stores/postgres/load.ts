import type { Loaded, LogRow } from '../../ports/store.js';
import { assemble, STORED_COLUMNS, type StoredRow } from '../job-state.js';
import type { Queries } from './session.js';

type Stored = StoredRow & {
  readonly log_rev: number;
  readonly command_id: string;
  readonly body: string;
  readonly link: string;
};

const COLUMNS = STORED_COLUMNS.map((column) => `j.${column}`).join(', ');

/** Jobs with the log rows that it takes to put them together, read in one snapshot. Unknown ids are left out. */
export async function loadAll(db: Queries, jobIds: readonly string[]): Promise<Loaded[]> {
  if (jobIds.length === 0) return [];
  const rows = await db.rows<Stored>(
    `SELECT ${COLUMNS}, l.rev AS log_rev, l.command_id, l.body, l.link
     FROM unnest($1::text[]) AS i (job_id) JOIN pawl.jobs j ON j.job_id = i.job_id,
     LATERAL (SELECT * FROM pawl.log WHERE log.job_id = j.job_id AND log.rev = 1
       UNION ALL SELECT * FROM pawl.log WHERE log.job_id = j.job_id AND log.rev >= greatest(j.rev, 2)) l
     ORDER BY j.job_id, l.rev`,
    [jobIds],
  );
  const byJob = new Map<string, { stored: Stored; log: LogRow[] }>();
  for (const stored of rows) {
    const found = byJob.get(stored.job_id) ?? { stored, log: [] };
    found.log.push({
      jobId: stored.job_id,
      rev: stored.log_rev,
      commandId: stored.command_id,
      body: stored.body,
      link: stored.link,
    });
    byJob.set(stored.job_id, found);
  }
  return jobIds.flatMap((jobId) => {
    const found = byJob.get(jobId);
    return found ? [assemble(found.stored, found.log)] : [];
  });
}
