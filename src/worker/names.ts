import type { WorkerRef } from '../kernel/index.js';

/**
 * How a worker names its claims and commits. Nobody else has its incarnation, so none of these names repeats; and a
 * name in the log tells who wrote it, without the claim that came long before.
 */
export function attemptName({ incarnation }: WorkerRef, claim: number | string): string {
  return `${incarnation}/${claim}`;
}

export function commitName(attemptId: string, commits: number): string {
  return `${attemptId}:${commits}`;
}

/** Who holds the job after a commit of this name; null if no worker wrote it. */
export function holderOf(
  commandId: string,
): { readonly attemptId: string; readonly worker: WorkerRef } | null {
  const named = /^(((.+)\.[^./]+)\/\d+)(?::\d+)?$/.exec(commandId);
  if (named === null) return null;
  const [, attemptId = '', incarnation = '', id = ''] = named;
  return { attemptId, worker: { id, incarnation } };
}
