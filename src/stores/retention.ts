import type { Status } from '../kernel/index.js';
import type { AgedPage, Identity, PurgeGuard } from '../ports/store.js';

/**
 * How long a worker is remembered after its last lease, so that nobody holds a job under its name any more. One that stood
 * still for even longer is taken for a new one, and finds that its jobs have gone on without it.
 */
export const WORKERS_KEPT_MS = 7 * 86_400_000;

/** What a job keeps after it is gone, for as long as the job is there whose place it has taken; the others for a time. */
export const isForAPlace = ({ kind }: Pick<Identity, 'kind'>): boolean => kind === PLACE;
export const PLACE: Identity['kind'] = 'successor';

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
