import { PawlError } from '../errors.js';
import type { Contract } from '../contracts/index.js';
import type { Engine } from '../engine/engine.js';
import type { Job, Status } from '../kernel/index.js';
import { badCursor } from './bad-cursor.js';

export type ListQuery<S extends string> = {
  readonly status?: S | undefined;
  readonly task?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
};

/** How many jobs are read at the same time. */
const AT_ONCE = 20;
/** How many are listed at a time where not all of them may fit. */
const PAGE = 200;
/** So many are looked at for one page, if each has to be. A page may then be short, or empty, and more may follow. */
const MOST_LOOKED_AT = 1_000;

/**
 * A page of a tenant's jobs, newest first, as a contract shows them. Where the state alone does not tell how a job shows,
 * each is looked at, and the page is filled up from those behind.
 */
export async function listJobs<S extends string>(
  engine: Engine,
  contract: Contract<S>,
  { tenantId, status, task, limit, cursor }: ListQuery<S> & { readonly tenantId: string },
): Promise<{ readonly jobs: readonly Job[]; readonly next: string | null }> {
  const asked = {
    tenantId,
    statuses: status === undefined ? null : contract.statusesOf(status),
    task: task ?? null,
    limit,
    cursor: cursor ?? null,
    mayNotFit: status !== undefined,
  };
  const { shown, next } = await listShown(engine, asked, async (job) =>
    status === undefined || contract.project(job) === status ? job : null,
  );
  return { jobs: shown, next };
}

type Asked = {
  readonly tenantId: string;
  readonly statuses: readonly Status[] | null;
  readonly task: string | null;
  readonly limit: number;
  readonly cursor: string | null;
  /** Whether some of what the store lists may not fit. */
  readonly mayNotFit: boolean;
};

/** The same, of jobs as they are shown; null: this one does not fit. */
export async function listShown<T>(
  engine: Engine,
  { tenantId, statuses, task, limit, cursor, mayNotFit }: Asked,
  show: (job: Job) => Promise<T | null>,
): Promise<{ readonly shown: readonly T[]; readonly next: string | null }> {
  const most = mayNotFit ? Math.max(limit, PAGE) : limit;
  const shown: T[] = [];
  let after = cursor;
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += most) {
    const page = { tenantId, statuses, task, limit: most, cursor: after };
    const { rows, places, next } = await engine.store.list(page).catch(refused);
    const jobs = await load(engine, rows);
    let last = -1;
    for (let at = 0; at < jobs.length; at += AT_ONCE) {
      const part = jobs.slice(at, at + AT_ONCE);
      for (const [index, one] of (await Promise.all(part.map(show))).entries()) {
        if (one === null) continue;
        if (shown.length === limit) return { shown, next: places[last] ?? null };
        shown.push(one);
        last = rows.findIndex(({ jobId }) => jobId === part[index]?.spec.jobId);
      }
    }
    after = next;
    if (after === null || shown.length === limit) break;
  }
  return { shown, next: after };
}

/** Of what a list is asked with, only its cursor can be no option of the store's. */
function refused(error: unknown): never {
  throw error instanceof PawlError && error.code === 'INVALID_OPTION' ? badCursor() : error;
}

/** Those that were purged in between are left out, and so are those that cannot be read. */
async function load(engine: Engine, rows: readonly { readonly jobId: string }[]): Promise<Job[]> {
  const jobs: Job[] = [];
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const part = rows.slice(at, at + AT_ONCE);
    const loaded = await Promise.all(
      part.map(({ jobId }) =>
        engine.store.load(jobId).catch((error: unknown) => {
          // A store that fails says nothing about the job.
          if (error instanceof PawlError) throw error;
          engine.log.warn('a job is left out of a list, since it cannot be read', { jobId, error });
          return { found: null };
        }),
      ),
    );
    for (const { found } of loaded) if (found) jobs.push(found.job);
  }
  return jobs;
}
