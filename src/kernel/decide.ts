import type { Command, CommandOf, CommandType } from './command.js';
import { readCommand } from './read-command.js';
import { reject, type Decision } from './decision.js';
import type { Job } from './job.js';
import { pathOf } from './shape.js';
import type { StepIndex } from './step-log.js';
import { abortRecovery } from './transitions/abort-recovery.js';
import { beginEffect } from './transitions/begin-effect.js';
import { beginWait } from './transitions/begin-wait.js';
import { cancel } from './transitions/cancel.js';
import { claim } from './transitions/claim.js';
import { complete } from './transitions/complete.js';
import { completeWait } from './transitions/complete-wait.js';
import { consumeWait } from './transitions/consume-wait.js';
import { create } from './transitions/create.js';
import { expireDeadline } from './transitions/expire-deadline.js';
import { expireWaits } from './transitions/expire-waits.js';
import { failAttempt } from './transitions/fail-attempt.js';
import { failStep } from './transitions/fail-step.js';
import { forceFail } from './transitions/force-fail.js';
import { heartbeat } from './transitions/heartbeat.js';
import { interrupt } from './transitions/interrupt.js';
import { promote } from './transitions/promote.js';
import { reconcileEffect } from './transitions/reconcile-effect.js';
import { recordStep } from './transitions/record-step.js';
import { resolveEffect } from './transitions/resolve-effect.js';
import { saveCheckpoint } from './transitions/save-checkpoint.js';
import { closeEffect, doubtEffect, recordEffect } from './transitions/settle-effect.js';
import { signal } from './transitions/signal.js';
import { startChild } from './transitions/start-child.js';
import { timeOut } from './transitions/time-out.js';

type Transitions = {
  readonly [T in Exclude<CommandType, 'create'>]: (
    job: Job,
    command: CommandOf<T>,
    steps: StepIndex,
  ) => Decision;
};

const TRANSITIONS: Transitions = {
  promote,
  claim,
  heartbeat,
  complete,
  'fail-attempt': failAttempt,
  'time-out': timeOut,
  'begin-wait': beginWait,
  'consume-wait': consumeWait,
  'complete-wait': completeWait,
  'expire-waits': expireWaits,
  signal,
  interrupt,
  'abort-recovery': abortRecovery,
  cancel,
  'force-fail': forceFail,
  'expire-deadline': expireDeadline,
  'record-step': recordStep,
  'fail-step': failStep,
  'begin-effect': beginEffect,
  'record-effect': recordEffect,
  'close-effect': closeEffect,
  'doubt-effect': doubtEffect,
  'reconcile-effect': reconcileEffect,
  'resolve-effect': resolveEffect,
  'start-child': startChild,
  'save-checkpoint': saveCheckpoint,
};

/**
 * Answers a command: the events that it causes, or why not. Pure, and total: a command of any shape gets an answer,
 * and a refused one has changed nothing. `steps` must be the whole log's, or those from its latest checkpoint on: commands
 * about steps, effects and waits rely on it.
 */
export function decide(job: Job | null, command: Command, steps: StepIndex): Decision {
  let sound: Command;
  try {
    sound = readCommand(command);
  } catch (thrown) {
    return reject('INVALID_COMMAND', { field: pathOf(thrown) });
  }
  if (sound.type === 'create') return create(job, sound);
  if (job === null) return reject('JOB_NOT_FOUND');
  const transition = TRANSITIONS[sound.type] as (job: Job, command: Command, steps: StepIndex) => Decision;
  return transition(job, sound, steps);
}
