import type { Status } from '../kernel/index.js';
import type { AgedPage, PurgeGuard } from '../ports/store.js';

/** Whether a job that has ended is old enough to go. */
export function isOld(
  { finishedBefore, rules = [] }: Pick<AgedPage, 'finishedBefore' | 'rules'>,
  job: { readonly task: string; readonly status: Status; readonly finishedAt: number | null },
): boolean {
  const rule = rules.find(
    ({ task, status }) => (task ?? job.task) === job.task && (status ?? job.status) === job.status,
  );
  return job.finishedAt !== null && job.finishedAt < (rule?.finishedBefore ?? finishedBefore);
}

/** Whether nothing has come to a finished job since somebody looked at it. All of it only ever grows. */
export function isUnchanged(guard: PurgeGuard | null, found: PurgeGuard): boolean {
  return (
    guard === null ||
    (guard.inboxRev === found.inboxRev && guard.effects === found.effects && guard.results === found.results)
  );
}
