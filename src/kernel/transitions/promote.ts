import type { Promote } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { illegal } from '../fence.js';
import type { Job } from '../job.js';

export function promote(job: Job, { now, actor }: Promote): Decision {
  if (job.status !== 'scheduled') return illegal(job, 'queued');
  if (now < job.spec.scheduledAt) return reject('NOT_DUE', { dueAt: job.spec.scheduledAt });
  return accept({ type: 'job.promoted', at: now, actor });
}
