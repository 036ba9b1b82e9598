import type { Session } from './session.js';

/** More than come while a process is busy. One that misses some has its heartbeats to find out by. */
const KEPT = 1_000;

/** Leaves word for workers of other processes, where no job that gets ready would show it. */
export function leaveNews(db: Session, lanes: readonly string[]): void {
  for (const lane of lanes) {
    const { id } = db.run('INSERT INTO news (lane) VALUES (?)', lane);
    db.run('DELETE FROM news WHERE seq <= ?', id - KEPT);
  }
}

export type News = { readonly lanes: readonly string[]; readonly upTo: number };

/** What was left after the news that one has read. */
export function newsAfter(db: Session, upTo: number): News {
  const rows = db.all<{ seq: number; lane: string }>(
    'SELECT seq, lane FROM news WHERE seq > ? ORDER BY seq',
    upTo,
  );
  return { lanes: [...new Set(rows.map(({ lane }) => lane))], upTo: rows.at(-1)?.seq ?? upTo };
}
