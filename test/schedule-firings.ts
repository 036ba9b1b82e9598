import type { JobRow } from '../src/kernel/index.js';
import { advanceUntil, T0, type Cluster } from '../src/testkit/index.js';

/** All jobs, oldest first. */
export async function jobsOf({ store }: Cluster): Promise<JobRow[]> {
  const { rows } = await store.list({
    tenantId: null,
    statuses: null,
    task: null,
    limit: 10_000,
    cursor: null,
  });
  return rows.toReversed();
}

/** The times that jobs were fired for, counted from the beginning. */
export async function firingsOf(cluster: Cluster): Promise<number[]> {
  const jobs = await Promise.all((await jobsOf(cluster)).map(({ jobId }) => cluster.store.load(jobId)));
  return jobs.map(({ found }) => (found?.job.spec.firedBy?.fireAt ?? 0) - T0).toSorted((a, b) => a - b);
}

/** Lets time pass from timer to timer, so that loops get their turns. */
export async function pass({ clock }: Cluster, ms: number): Promise<void> {
  let passed = false;
  clock.after(ms, () => (passed = true));
  await advanceUntil(clock, () => passed);
}
