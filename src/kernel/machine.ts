import type { EventType } from './event.js';
import type { Status } from './status.js';

/** One edge of the machine, and the event that writes it. */
export type Transition = { readonly from: Status | null; readonly to: Status; readonly event: EventType };

const edges = (event: EventType, from: readonly (Status | null)[], to: Status): Transition[] =>
  from.map((state) => ({ from: state, to, event }));

/** The whole machine as data: `evolve` refuses whatever is not listed here. */
export const TRANSITIONS: readonly Transition[] = [
  ...edges('job.created', [null], 'scheduled'),
  ...edges('job.promoted', ['scheduled'], 'queued'),
  ...edges('attempt.started', ['queued', 'unblocked', 'retrying', 'interrupted'], 'running'),
  ...edges('attempt.failed', ['running'], 'retrying'),
  ...edges('attempt.interrupted', ['running'], 'interrupted'),
  ...edges('wait.begun', ['running'], 'waiting'),
  ...edges('wait.completed', ['waiting'], 'unblocked'),
  ...edges('dlq.entered', ['running', 'retrying', 'interrupted'], 'dlq_pending'),
  ...edges('dlq.recorded', ['dlq_pending'], 'dlq_recorded'),
  ...edges('job.failed', ['dlq_recorded'], 'failed'),
  ...edges('job.succeeded', ['running'], 'succeeded'),
  ...edges(
    'job.cancelled',
    ['scheduled', 'queued', 'running', 'waiting', 'unblocked', 'retrying', 'interrupted'],
    'cancelled',
  ),
];

/**
 * States in which an event is recorded without moving the job. Steps belong to the lease holder; a wait
 * may be completed by the holder while it runs, or as the second of several that end in one commit.
 */
export const STANDING_EVENTS: Readonly<Partial<Record<EventType, readonly Status[]>>> = {
  'wait.completed': ['running', 'unblocked'],
  'step.recorded': ['running'],
  'step.failed': ['running'],
  'effect.intended': ['running'],
  // A parked job's effects are settled by an operator.
  'effect.recorded': ['running', 'waiting'],
  'effect.closed': ['running'],
  'effect.unknown': ['running'],
  'effect.reconciled': ['running', 'waiting'],
  'child.started': ['running'],
  'checkpoint.saved': ['running'],
};
