import type { ConsumeWait } from '../command.js';
import { accept, reject, type Decision } from '../decision.js';
import { refuseUnlessHeld } from '../fence.js';
import type { Job } from '../job.js';
import type { StepIndex } from '../step-log.js';
import { decidedEntry } from '../wait.js';
import { refuseWait } from './refuse-wait.js';

/** What the handler waits for is already there: it is recorded and the handler goes on under its lease. */
export function consumeWait(job: Job, command: ConsumeWait, steps: StepIndex): Decision {
  const { now, actor, attemptId, outcome, payload } = command;
  const refused = refuseUnlessHeld(job, { attemptId, to: 'running' }) ?? refuseWait(job, command.wait, steps);
  if (refused) return refused;

  const wait = steps.waitFor(command.wait.key)?.wait ?? command.wait;
  if (decidedEntry(wait)) return reject('WAIT_NOT_OPEN', { key: wait.key });
  if ((wait.kind === 'timer') !== (outcome === 'elapsed')) {
    return reject('INVALID_COMMAND', { field: 'outcome', problem: 'a timer elapses, and nothing else does' });
  }
  if (outcome !== 'received' && (wait.expiresAt === null || now < wait.expiresAt)) {
    return reject('NOT_DUE', { dueAt: wait.expiresAt });
  }
  return accept({ type: 'wait.completed', at: now, actor, wait, outcome, payload });
}
