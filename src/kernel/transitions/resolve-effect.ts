import type { ResolveEffect } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { illegal } from '../fence.js';
import type { Job } from '../job.js';
import { effectDecisionWait } from '../wait.js';

/**
 * An operator decides what became of an effect that its job is parked on. The verdict arrives as the end of the
 * wait; the worker that resumes the job acts on it.
 */
export function resolveEffect(job: Job, command: ResolveEffect): Decision {
  const { now, actor, verdict } = command;
  if (job.status !== 'waiting') return illegal(job, 'unblocked');
  const { key } = effectDecisionWait(command);
  const wait = job.waits.find((open) => open.key === key);
  if (!wait) return reject('WAIT_NOT_OPEN', { key });
  const payload =
    verdict.kind === 'happened'
      ? `{"kind":"happened","result":${verdict.result}}`
      : `{"kind":"${verdict.kind}"}`;
  return accept({ type: 'wait.completed', at: now, actor, wait, outcome: 'received', payload });
}
