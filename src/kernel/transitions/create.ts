import type { Create } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import type { Job } from '../job.js';

/** A new job. One that is due at once is promoted in the same commit. */
export function create(job: Job | null, { now, actor, spec, input }: Create): Decision {
  if (job !== null) return reject('JOB_EXISTS', { jobId: job.spec.jobId });
  if (spec.deadlineAt !== null && spec.deadlineAt <= Math.max(now, spec.scheduledAt)) {
    return reject('INVALID_COMMAND', {
      field: 'spec.deadlineAt',
      problem: 'must lie after now and after scheduledAt',
    });
  }
  const created = { type: 'job.created', at: now, actor, spec, input } as const;
  if (spec.scheduledAt > now) return accept(created);
  return accept(created, { type: 'job.promoted', at: now, actor });
}
