import type { Status } from '../kernel/index.js';
import type { PurgePage } from '../ports/store.js';

/** Whether a job that has ended is old enough to go. */
export function isOld(
  { finishedBefore, rules = [] }: Pick<PurgePage, 'finishedBefore' | 'rules'>,
  job: { readonly task: string; readonly status: Status; readonly finishedAt: number | null },
): boolean {
  const rule = rules.find(
    ({ task, status }) => (task ?? job.task) === job.task && (status ?? job.status) === job.status,
  );
  return job.finishedAt !== null && job.finishedAt < (rule?.finishedBefore ?? finishedBefore);
}
