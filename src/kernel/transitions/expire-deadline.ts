import type { ExpireDeadline } from '../command.js';
import { deadLetter } from '../dead-letter.js';
import { accept, reject, type Decision } from '../decision.js';
import type { Event } from '../event.js';
import { permanentFailure } from '../failure.js';
import { illegal, refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import { isLive } from '../status.js';

const DEADLINE_EXCEEDED = permanentFailure('DEADLINE_EXCEEDED', {
  message: 'the job did not finish before its deadline',
});

/**
 * The job's deadline has passed: it is dead-lettered from wherever it stands.
 *
 * A retrying job goes there directly and a running one by its own holder. Every other is claimed on the way,
 * so that the walk is legal in each contract; its open waits are completed first, for a waiting job is never claimed.
 */
export function expireDeadline(job: Job, command: ExpireDeadline): Decision {
  const { now, actor, attemptId, worker } = command;
  const { deadlineAt } = job.spec;
  if (!isLive(job.status)) return illegal(job, 'dlq_pending');
  if (deadlineAt === null || now < deadlineAt) return reject('NOT_DUE', { dueAt: deadlineAt });

  const from = job.status === 'retrying' ? 'retrying' : 'running';
  const ending = deadLetter(job, { from, reason: 'deadline', failure: DEADLINE_EXCEEDED, at: now, actor });
  if (job.status === 'retrying') return accept(...ending);
  if (job.status === 'running')
    return refuseUnlessHeld(job, { attemptId, to: 'dlq_pending' }) ?? accept(...ending);
  if (attemptId === job.attemptId) return reject('ATTEMPT_ID_REUSED', { attemptId });

  const approach: Event[] = [];
  if (job.status === 'scheduled') approach.push({ type: 'job.promoted', at: now, actor });
  if (job.status === 'waiting') {
    for (const wait of job.waits) {
      approach.push({ type: 'wait.completed', at: now, actor, wait, outcome: 'deadline', payload: null });
    }
  }
  return accept(...approach, { type: 'attempt.started', at: now, actor, attemptId, worker }, ...ending);
}
