import { PawlError } from '../errors.js';
import type { Job, JobSpec } from '../kernel/index.js';
import type { AgedJob, Identity } from '../ports/store.js';
import type { Engine } from './engine.js';

const identityOf = ({
  tenantId,
  jobId,
}: {
  readonly tenantId: string;
  readonly jobId: string;
}): Identity => ({
  tenantId,
  kind: 'continues',
  value: jobId,
});

/** What only one job can own: two that went on with the same record would each enter what is left of it. */
export function continuing({ tenantId, continues }: Pick<JobSpec, 'tenantId' | 'continues'>): Identity[] {
  return continues === null ? [] : [identityOf({ tenantId, jobId: continues.jobId })];
}

/** The entry of an effect with which a job stands in for what the one before has entered. */
export const STAND_IN = 1;

/** The job that goes on with this one, if there is one. A worker behind a server is not told. */
export async function successorOf(
  { store }: Pick<Engine, 'store'>,
  job: { readonly tenantId: string; readonly jobId: string },
): Promise<string | null> {
  try {
    const { jobIds } = await store.resolve([identityOf(job)]);
    return jobIds[0] ?? null;
  } catch (error) {
    if (error instanceof PawlError && error.code === 'REMOTE_UNSUPPORTED') return null;
    throw error;
  }
}

/** The last of the jobs that went on with one, or that one itself; null if it is gone. `except`: not as far as this one. */
export async function lastInRow(
  engine: Pick<Engine, 'store'>,
  jobId: string,
  { except = null }: { readonly except?: string | null } = {},
): Promise<Job | null> {
  let last = (await engine.store.load(jobId)).found?.job ?? null;
  while (last !== null) {
    const next = await successorOf(engine, last.spec);
    if (next === null || next === except) break;
    last = (await engine.store.load(next)).found?.job ?? null;
  }
  return last;
}

/** Those that no job goes on with. The others are kept for as long as that one is: it may have to be gone on with itself. */
export async function withoutContinued(
  { store }: Pick<Engine, 'store'>,
  aged: readonly AgedJob[],
): Promise<readonly AgedJob[]> {
  if (aged.length === 0) return aged;
  const { jobIds: successors } = await store.resolve(aged.map(identityOf));
  const stays = await Promise.all(
    successors.map(async (successor) => successor !== null && (await store.load(successor)).found !== null),
  );
  return aged.filter((_, index) => !stays[index]);
}
