import type { Session } from './session.js';

/** More than come while a process is busy. One that misses some has its heartbeats to find out by. */
const KEPT = 1_000;
/** How many lanes one look goes through. Polling finds what is in others. */
const MOST_LANES = 100;

/** Leaves word for workers of other processes, where no job that gets ready would show it. */
export function leaveNews(db: Session, lanes: readonly string[]): void {
  for (const lane of lanes) {
    const { id } = db.run('INSERT INTO news (lane) VALUES (?)', lane);
    db.run('DELETE FROM news WHERE seq <= ?', id - KEPT);
  }
}

export type News = {
  /** The first ready job of each lane. */
  readonly heads: ReadonlyMap<string, string>;
  /** For whom word was left since. */
  readonly lanes: readonly string[];
  readonly upTo: number;
};

type Found = readonly [lane: string, jobId: string | null, seq: number | null];

const FIRST_READY = `SELECT lane, job_id, NULL AS seq FROM jobs WHERE ready = 1 AND lane > ?
   ORDER BY lane, tenant_id, gate, priority DESC, due_at, job_id LIMIT 2`;
const NEWS = `SELECT * FROM (${FIRST_READY}) UNION ALL SELECT lane, NULL, seq FROM news WHERE seq > ?`;

/** What is ready, and the word that was left after what one has read. Mostly one job is ready, or none, and one statement tells. */
export function newsAfter(db: Session, upTo: number): News {
  const found = db.tuples<Found>(NEWS, '', upTo);
  const left = found.filter(([, jobId]) => jobId === null);
  const heads = new Map<string, string>();
  let ready = found.filter(([, jobId]) => jobId !== null);
  for (;;) {
    for (const [lane, jobId] of ready) if (!heads.has(lane)) heads.set(lane, jobId ?? '');
    const [, second] = ready;
    // Where there is no second, there is no other lane.
    if (second === undefined || heads.size >= MOST_LANES) break;
    ready = db.tuples<Found>(FIRST_READY, second[0]);
  }
  return {
    heads,
    lanes: [...new Set(left.map(([lane]) => lane))],
    upTo: left.reduce((last, [, , seq]) => Math.max(last, seq ?? 0), upTo),
  };
}
