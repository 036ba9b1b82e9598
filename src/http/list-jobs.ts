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

/**
 * A page of a tenant's jobs, newest first, as a contract shows them. Where the state alone does not tell how a job shows,
 * each is looked at, and the page is filled up from those behind.
 */
export async function listJobs<S extends string>(
  engine: Engine,
  contract: Contract<S>,
  { tenantId, status, task, limit, cursor }: ListQuery<S> & { readonly tenantId: string },
): Promise<{ readonly jobs: readonly Job[]; readonly next: string | null }> {
  const statuses: readonly Status[] | null = status === undefined ? null : contract.statusesOf(status);
  const jobs: Job[] = [];
  let after = cursor ?? null;
  for (;;) {
    const filter = { tenantId, statuses, task: task ?? null, limit: limit - jobs.length, cursor: after };
    const page = await engine.store.list(filter).catch(refused);
    for (const job of await load(engine, page.rows)) {
      if (status === undefined || contract.project(job) === status) jobs.push(job);
    }
    after = page.next;
    if (after === null || jobs.length === limit) return { jobs, next: after };
  }
}

/** Of what a list is asked with, only its cursor can be no option of the store's. */
function refused(error: unknown): never {
  throw error instanceof PawlError && error.code === 'INVALID_OPTION' ? badCursor() : error;
}

/** Those that were purged in between are left out. */
async function load(engine: Engine, rows: readonly { readonly jobId: string }[]): Promise<Job[]> {
  const jobs: Job[] = [];
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const loaded = await Promise.all(
      rows.slice(at, at + AT_ONCE).map(({ jobId }) => engine.store.load(jobId)),
    );
    for (const { found } of loaded) if (found) jobs.push(found.job);
  }
  return jobs;
}
