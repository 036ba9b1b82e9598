import type { ExpireWaits } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { illegal } from '../fence.js';
import type { Job } from '../job.js';
import { wakesAt } from '../readiness.js';

/** Completes every wait whose time has come: a timer has elapsed, anything else has timed out. */
export function expireWaits(job: Job, { now, actor }: ExpireWaits): Decision {
  if (job.status !== 'waiting') return illegal(job, 'unblocked');
  const due = job.waits.filter((wait) => wait.expiresAt !== null && wait.expiresAt <= now);
  if (due.length === 0) return reject('NOT_DUE', { dueAt: wakesAt(job) });
  return accept(
    ...due.map((wait) => {
      const outcome = wait.kind === 'timer' ? ('elapsed' as const) : ('timeout' as const);
      return { type: 'wait.completed' as const, at: now, actor, wait, outcome, payload: null };
    }),
  );
}
