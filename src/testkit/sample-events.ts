import {
  changesOf,
  type Change,
  type Commit,
  type Event,
  type EventOf,
  type EventType,
  type InterruptedReason,
  type JobSpec,
  type Wait,
} from '../kernel/index.js';
import { aChild, aChildWait, aFailure, ATTEMPT, aWait } from './sample-commands.js';
import { aJobSpec, T0 } from './sample-job.js';

const stamp = { at: T0, actor: 'worker:worker-a' };
const charge = { step: 'charge', occurrence: 1, entry: 1 };

const SAMPLES: { readonly [T in EventType]: EventOf<T> } = {
  'job.created': { type: 'job.created', ...stamp, actor: 'client', spec: aJobSpec(), input: '{"id":1}' },
  'job.promoted': { type: 'job.promoted', ...stamp, actor: 'client' },
  'job.succeeded': { type: 'job.succeeded', ...stamp, result: '{"ok":true}' },
  'job.failed': { type: 'job.failed', ...stamp },
  'job.cancelled': { type: 'job.cancelled', ...stamp, actor: 'client', reason: null },
  'attempt.started': {
    type: 'attempt.started',
    ...stamp,
    attemptId: ATTEMPT,
    worker: { id: 'worker-a', incarnation: 'worker-a.1' },
  },
  'attempt.failed': {
    type: 'attempt.failed',
    ...stamp,
    failure: aFailure,
    retryCount: 1,
    nextRetryAt: T0 + 1_000,
  },
  'attempt.interrupted': {
    type: 'attempt.interrupted',
    ...stamp,
    actor: 'recovery',
    reason: 'lease_expired',
  },
  'wait.begun': { type: 'wait.begun', ...stamp, waits: [aWait()] },
  'wait.completed': {
    type: 'wait.completed',
    ...stamp,
    actor: 'client',
    wait: aWait(),
    outcome: 'received',
    payload: 'true',
  },
  'dlq.entered': { type: 'dlq.entered', ...stamp, from: 'running', reason: 'exhausted', failure: aFailure },
  'dlq.recorded': { type: 'dlq.recorded', ...stamp, dlqId: 'dlq_job_00000001' },
  'step.recorded': {
    type: 'step.recorded',
    ...stamp,
    step: 'quote',
    occurrence: 1,
    startedAt: T0,
    output: '{"cents":100}',
  },
  'step.failed': {
    type: 'step.failed',
    ...stamp,
    step: 'quote',
    occurrence: 1,
    startedAt: T0,
    tries: 1,
    failure: aFailure,
    nextTryAt: T0 + 1_000,
  },
  'effect.intended': {
    type: 'effect.intended',
    ...stamp,
    ...charge,
    tool: 'stripe.charge',
    effectKey: 'key-of-charge',
    input: '{"cents":100}',
  },
  'effect.recorded': { type: 'effect.recorded', ...stamp, ...charge, result: '"ch_1"' },
  'effect.closed': { type: 'effect.closed', ...stamp, ...charge, failure: aFailure },
  'effect.unknown': { type: 'effect.unknown', ...stamp, ...charge, failure: aFailure },
  'effect.reconciled': {
    type: 'effect.reconciled',
    ...stamp,
    ...charge,
    verdict: 'notHappened',
    result: null,
  },
  'child.started': { type: 'child.started', ...stamp, wait: aChildWait(), child: aChild },
  'checkpoint.saved': { type: 'checkpoint.saved', ...stamp, state: '{"i":10}', occurrences: { quote: 10 } },
};

/** An event as the sample worker would have written it. */
export function event<T extends EventType>(
  type: T,
  overrides: Partial<Omit<EventOf<T>, 'type'>> = {},
): EventOf<T> {
  return { ...SAMPLES[type], ...overrides };
}

/** A job that was due when it was created. */
export function created(spec: Partial<JobSpec> = {}): Event[] {
  return [event('job.created', { spec: aJobSpec(spec) }), event('job.promoted')];
}

/** A job that is due later. */
export function scheduled(spec: Partial<JobSpec> = {}): Event[] {
  return [event('job.created', { spec: aJobSpec({ scheduledAt: T0 + 60_000, ...spec }) })];
}

/** Claim number `n` by a worker; its attempt id is `{worker}/{n}`. */
export function claimedBy(worker: string, n = 1): Event {
  return event('attempt.started', {
    actor: `worker:${worker}`,
    attemptId: `${worker}/${n}`,
    worker: { id: worker, incarnation: `${worker}.${n}` },
  });
}

export function interrupted(reason: InterruptedReason = 'lease_expired'): Event {
  return event('attempt.interrupted', { reason });
}

export function waitingFor(...waits: Partial<Wait>[]): Event {
  return event('wait.begun', { waits: waits.map((wait) => aWait(wait)) });
}

/** The dead-letter path of a job that was running. */
export function deadLettered(overrides: Partial<Omit<EventOf<'dlq.entered'>, 'type'>> = {}): Event[] {
  return [event('dlq.entered', overrides), event('dlq.recorded'), event('job.failed')];
}

/** A log as projections see it: each argument is one commit. */
export function historyOf(...commits: (Event | readonly Event[])[]): Change[] {
  return changesOf(
    commits.map((events, i): Commit => ({ jobId: aJobSpec().jobId, rev: i + 1, events: [events].flat() })),
  );
}
