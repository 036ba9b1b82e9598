import type { CommandType, Event } from '../../kernel/index.js';

/** The command that an event answers. Those that leave no event of their own are not seen here. */
export function commandOf(event: Event): CommandType {
  switch (event.type) {
    case 'job.created':
      return 'create';
    case 'job.promoted':
      return 'promote';
    case 'attempt.started':
      return event.actor === 'recovery' ? 'expire-deadline' : 'claim';
    case 'job.succeeded':
      return 'complete';
    case 'job.cancelled':
      return 'cancel';
    case 'attempt.failed':
      return event.failure.code === 'TASK_TIMEOUT' ? 'time-out' : 'fail-attempt';
    case 'attempt.interrupted':
      return 'interrupt';
    case 'wait.begun':
      return 'begin-wait';
    case 'wait.completed':
      return waitCommand(event);
    case 'dlq.entered':
      if (event.reason === 'abandoned') return 'force-fail';
      return event.reason === 'deadline' ? 'expire-deadline' : 'fail-attempt';
    case 'dlq.recorded':
    case 'job.failed':
      return 'fail-attempt';
    case 'step.recorded':
      return 'record-step';
    case 'step.failed':
      return 'fail-step';
    case 'effect.intended':
      return 'begin-effect';
    case 'effect.recorded':
      return 'record-effect';
    case 'effect.closed':
      return 'close-effect';
    case 'effect.unknown':
      return 'doubt-effect';
    case 'effect.reconciled':
      return event.actor.startsWith('operator:') ? 'resolve-effect' : 'reconcile-effect';
    case 'child.started':
      return 'start-child';
    case 'checkpoint.saved':
      return 'save-checkpoint';
  }
}

function waitCommand({ actor, outcome }: Extract<Event, { type: 'wait.completed' }>): CommandType {
  if (actor.startsWith('worker:')) return 'consume-wait';
  if (actor.startsWith('operator:')) return 'resolve-effect';
  return outcome === 'received' ? 'complete-wait' : 'expire-waits';
}
