import type { Job, JobSpec } from '../kernel/index.js';
import type { AgedJob, Identity } from '../ports/store.js';
import { eachApart } from './each-apart.js';
import type { Engine } from './engine.js';

type JobRef = { readonly tenantId: string; readonly jobId: string };

/** The place of a job that has ended. Only one can have it: two that did what was left of its work would each enter the rest. */
export const placeOf = ({ tenantId, jobId }: JobRef): Identity => ({
  tenantId,
  kind: 'successor',
  value: jobId,
});

/** What a job owns that goes on with another. */
export function continuing({ tenantId, continues }: Pick<JobSpec, 'tenantId' | 'continues'>): Identity[] {
  return continues === null ? [] : [placeOf({ tenantId, jobId: continues.jobId })];
}

/** The entry of an effect with which a job stands in for what the one before has entered. */
export const STAND_IN = 1;

/** The job that has taken the place of this one: it goes on with that, or has begun from the start. */
export async function successorOf({ store }: Pick<Engine, 'store'>, job: JobRef): Promise<string | null> {
  const { jobIds } = await store.resolve([placeOf(job)]);
  return jobIds[0] ?? null;
}

/** The same, if it goes on with what this one has recorded. */
export async function continuedBy(engine: Pick<Engine, 'store'>, job: JobRef): Promise<string | null> {
  const successor = await successorOf(engine, job);
  if (successor === null) return null;
  const { found } = await engine.store.load(successor);
  return found?.job.spec.continues?.jobId === job.jobId ? successor : null;
}

/** The last of the jobs that took each other's place, from one on; null if it is gone. `except`: not as far as this one. */
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

/** `place`: the job that had taken its place when it was looked for. */
export type FreeJob = AgedJob & { readonly place: string | null };

/**
 * Those that no job goes on with. The others are kept for as long as that one is: it may have to be gone on with itself. Of one that cannot
 * be read nobody knows what it needs.
 */
export async function withoutContinued(
  engine: Pick<Engine, 'store' | 'log'>,
  aged: readonly AgedJob[],
): Promise<readonly FreeJob[]> {
  if (aged.length === 0) return [];
  const { store } = engine;
  const { jobIds: successors } = await store.resolve(aged.map(placeOf));
  const followed = aged.flatMap(({ jobId }, index) => {
    const successor = successors[index] ?? null;
    return successor === null ? [] : [{ jobId, successor }];
  });
  const stay = new Set<string>();
  const unread = await eachApart(engine, followed, {
    doing: 'reading what goes on with a job',
    nameOf: ({ successor }) => successor,
    async work({ jobId, successor }) {
      const { found } = await store.load(successor);
      if (found?.job.spec.continues?.jobId === jobId) stay.add(jobId);
    },
  });
  for (const { jobId } of unread) stay.add(jobId);
  const all = aged.map((job, index) => ({ ...job, place: successors[index] ?? null }));
  return all.filter(({ jobId }) => !stay.has(jobId));
}
