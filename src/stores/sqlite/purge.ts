import type { Status } from '../../kernel/index.js';
import type { Identity, PurgePage, Purged, Reply } from '../../ports/store.js';
import { isOld } from '../retention.js';
import type { Session } from './session.js';

type Looked = {
  readonly id: number;
  readonly jobId: string;
  readonly task: string;
  readonly status: Status;
  readonly finishedAt: number | null;
  readonly isOpen: number;
};

/** Walks the jobs from the oldest on. What ended long ago is deleted with all that belongs to it. */
export function purge(db: Session, page: PurgePage): Reply<Purged> {
  const { identityTtlMs, limit, after } = page;
  const now = db.now();
  const looked = db.all<Looked>(
    `SELECT id, job_id AS jobId, task, status, finished_at AS finishedAt, EXISTS
     (SELECT 1 FROM dlq_items d WHERE d.job_id = jobs.job_id AND d.status = 'open') AS isOpen
     FROM jobs WHERE id > ? ORDER BY id LIMIT ?`,
    Number(after ?? 0),
    limit,
  );
  const jobs = looked.filter((job) => job.isOpen === 0 && isOld(page, job));
  for (const { id, jobId } of jobs) {
    outlive(db, { id, jobId, until: now + identityTtlMs });
    for (const table of ['log', 'effects', 'inbox', 'holds'])
      db.run(`DELETE FROM ${table} WHERE job = ?`, id);
    db.run('DELETE FROM jobs WHERE id = ?', id);
  }
  const identities = db.run('DELETE FROM identities WHERE expires_at <= ?', now).changes;
  const last = looked.at(-1);
  const next = last && looked.length === limit ? `${last.id}` : null;
  return { now, jobs: jobs.length, identities, next };
}

/** Its identities stay for a while: a start that comes again meanwhile is still recognised. */
function outlive(db: Session, { id, jobId, until }: { id: number; jobId: string; until: number }): void {
  const row = db.get<{ owns: string | null }>('SELECT owns FROM log WHERE job = ? AND rev = 1', id);
  for (const { tenantId, kind, value } of JSON.parse(row?.owns ?? '[]') as Identity[]) {
    const sql =
      'UPDATE identities SET expires_at = ? WHERE tenant_id = ? AND kind = ? AND value = ? AND job_id = ?';
    db.run(sql, until, tenantId, kind, value, jobId);
  }
}
