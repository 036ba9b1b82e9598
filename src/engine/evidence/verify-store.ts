import { PawlError } from '../../errors.js';
import { InvariantViolation, type JobRow } from '../../kernel/index.js';
import type { Store } from '../../ports/store.js';
import { differingField, JobCheck } from './check-job.js';
import { findStrays } from './find-strays.js';
import { jobEvidence } from './job-evidence.js';

export type JobVerdict = {
  readonly jobId: string;
  readonly holds: boolean;
  /** The first thing that is wrong; null if all holds. */
  readonly problem: string | null;
  readonly commits: number;
  readonly events: number;
  /** The link of the last commit. Kept elsewhere, it shows later whether what came before was rewritten. */
  readonly head: string;
};

export type StoreVerdict = {
  readonly holds: boolean;
  readonly jobs: number;
  readonly commits: number;
  readonly events: number;
  /** The jobs that do not hold; of very many, the first. */
  readonly broken: readonly JobVerdict[];
  readonly brokenJobs: number;
};

/** How many rows one page has, and how many jobs are looked at together. */
const PAGE = 200;
const TOGETHER = 8;
/** More would only fill the memory: whoever has so many will look at the first. */
const MOST_TOLD = 1_000;

/** Checks one job as it stands in its store. `listed`: its row as a list showed it. */
export async function verifyJob(
  store: Store,
  jobId: string,
  listed: JobRow | null = null,
): Promise<JobVerdict> {
  const check = new JobCheck(jobId);
  const problem = await findProblem(store, check, listed);
  const { commits, events, head } = check;
  return { jobId, holds: problem === null, problem, commits, events, head };
}

async function findProblem(store: Store, check: JobCheck, listed: JobRow | null): Promise<string | null> {
  try {
    for await (const record of jobEvidence(store, check.jobId)) {
      if (record.kind === 'evidence' || record.kind === 'job' || record.kind === 'end') continue;
      const problem = check.take(record);
      if (problem !== null) return problem;
      // The list is compared where it stood: steps that were recorded since leave its row alone.
      if (record.kind !== 'log' || record.rev !== listed?.rev || check.listed === null) continue;
      const differs = differingField(check.listed, listed);
      if (differs !== null) return `what lists show of it is not what its log makes: ${differs} differs`;
    }
    return null;
  } catch (error) {
    // A store that finds its own rows spoilt says so by these.
    if (error instanceof InvariantViolation || error instanceof SyntaxError)
      return `it cannot be read: ${error.message}`;
    throw error;
  }
}

/**
 * Checks every job of a store, page by page. Jobs that are deleted meanwhile are passed over. What is left of jobs without
 * a row is looked for in the whole store only: not all of it says whose it is.
 */
export async function verifyStore(
  store: Store,
  { tenantId = null, onProgress = () => undefined }: StoreVerifyOptions = {},
): Promise<StoreVerdict> {
  const told = { jobs: 0, commits: 0, events: 0, brokenJobs: 0 };
  const broken: JobVerdict[] = [];
  const tell = (verdict: JobVerdict): void => {
    told.jobs += 1;
    told.commits += verdict.commits;
    told.events += verdict.events;
    if (verdict.holds) return;
    told.brokenJobs += 1;
    if (broken.length < MOST_TOLD) broken.push(verdict);
  };
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Store['list']>> = await store.list({
      tenantId,
      statuses: null,
      task: null,
      limit: PAGE,
      cursor,
    });
    for (let from = 0; from < page.rows.length; from += TOGETHER) {
      const rows = page.rows.slice(from, from + TOGETHER);
      for (const verdict of await Promise.all(rows.map((row) => verifyListed(store, row)))) {
        if (verdict !== null) tell(verdict);
      }
      onProgress(told.jobs);
    }
    cursor = page.next;
  } while (cursor !== null);
  if (tenantId === null) for await (const stray of findStrays(store)) tell(stray);
  return { holds: told.brokenJobs === 0, ...told, broken };
}

export type StoreVerifyOptions = {
  readonly tenantId?: string | null;
  readonly onProgress?: (jobs: number) => void;
};

async function verifyListed(store: Store, row: JobRow): Promise<JobVerdict | null> {
  try {
    return await verifyJob(store, row.jobId, row);
  } catch (error) {
    if (error instanceof PawlError && error.code === 'JOB_NOT_FOUND') return null;
    throw error;
  }
}
