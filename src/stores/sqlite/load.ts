import type { Loaded, LogRow } from '../../ports/store.js';
import { assemble } from '../job-state.js';
import type { Session } from './session.js';

type StoredRow = {
  readonly id: number;
  readonly rev: number;
  readonly state: string;
  readonly inbox_rev: number;
};
type StoredLog = {
  readonly rev: number;
  readonly command_id: string;
  readonly body: string;
  readonly link: string;
};

export function load(db: Session, jobId: string): Loaded | null {
  const row = db.get<StoredRow>('SELECT id, rev, state, inbox_rev FROM jobs WHERE job_id = ?', jobId);
  if (!row) return null;
  const rows = db
    .all<StoredLog>(
      'SELECT rev, command_id, body, link FROM log WHERE job = ? AND (rev = 1 OR rev >= ?) ORDER BY rev',
      row.id,
      row.rev,
    )
    .map((stored) => logRow(jobId, stored));
  return assemble({ state: row.state, inboxRev: row.inbox_rev, rows });
}

export function logRow(jobId: string, { rev, command_id, body, link }: StoredLog): LogRow {
  return { jobId, rev, commandId: command_id, body, link };
}
