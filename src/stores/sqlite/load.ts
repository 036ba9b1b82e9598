import type { Loaded, LogRow } from '../../ports/store.js';
import { assemble, STORED_COLUMNS, type StoredRow } from '../job-state.js';
import type { Session } from './session.js';

type StoredLog = {
  readonly rev: number;
  readonly command_id: string;
  readonly body: string;
  readonly link: string;
};

export function load(db: Session, jobId: string): Loaded | null {
  const row = db.get<StoredRow & { id: number }>(
    `SELECT id, ${STORED_COLUMNS.join(', ')} FROM jobs WHERE job_id = ?`,
    jobId,
  );
  if (!row) return null;
  const log = db
    .all<StoredLog>(
      'SELECT rev, command_id, body, link FROM log WHERE job = ? AND (rev = 1 OR rev >= ?) ORDER BY rev',
      row.id,
      row.rev,
    )
    .map((stored) => logRow(jobId, stored));
  return assemble(row, log);
}

export function logRow(jobId: string, { rev, command_id, body, link }: StoredLog): LogRow {
  return { jobId, rev, commandId: command_id, body, link };
}
