import type { Commit, Event, JobCreated } from './event.js';
import { InvariantViolation, must } from './invariant-violation.js';
import type { Job } from './job.js';
import { STANDING_EVENTS, TRANSITIONS, type Status } from './status.js';

type Row = Partial<Record<Status, Status>>;

/** Where an event leads, by the state it meets: the machine of `status.ts`, arranged for looking up. */
const NEXT: Readonly<Record<string, Row>> = arrange();

/**
 * The job after one event. Total on whatever `decide` accepted; anything else is a corrupt log and throws.
 */
export function evolve(job: Job | null, event: Event): Job {
  if (job === null) {
    if (event.type !== 'job.created') throw new InvariantViolation(`${event.type} cannot come first`);
    return born(event);
  }
  const status = NEXT[event.type]?.[job.status];
  if (status === undefined || event.type === 'job.created') {
    throw new InvariantViolation(`${event.type} cannot follow ${job.status}`);
  }
  return { ...job, status, updatedAt: event.at, ...changeOf(job, event) };
}

/** The job after one commit: all its events, and one revision more. */
export function evolveCommit(job: Job | null, commit: Pick<Commit, 'events'>): Job {
  let next = job;
  for (const event of commit.events) next = evolve(next, event);
  const after = must(next, 'a commit has events');
  return { ...after, rev: after.rev + 1 };
}

function changeOf(job: Job, event: Exclude<Event, JobCreated>): Partial<Job> {
  switch (event.type) {
    case 'attempt.started':
      return {
        attemptId: event.attemptId,
        fenced: false,
        worker: event.worker,
        claimedAt: event.at,
        startedAt: job.startedAt ?? event.at,
        nextRetryAt: null,
        interruptedReason: null,
      };
    case 'attempt.failed':
      return {
        ...RELEASED,
        failure: event.failure,
        retryCount: event.retryCount,
        nextRetryAt: event.nextRetryAt,
        leasedMs: 0,
      };
    case 'attempt.interrupted':
      // The stretch that was cut off is not charged: a crash must not eat the attempt's time either.
      return {
        ...RELEASED,
        interruptedReason: event.reason,
        recoveryCount: job.recoveryCount + (event.reason === 'drained' ? 0 : 1),
      };
    case 'wait.begun':
      return {
        ...RELEASED,
        waits: event.waits,
        leasedMs: job.leasedMs + event.at - must(job.claimedAt, 'a running job was claimed'),
      };
    case 'wait.completed':
      return { waits: job.waits.filter((wait) => wait.key !== event.wait.key), recoveryCount: 0 };
    case 'step.recorded':
    case 'effect.recorded':
    case 'checkpoint.saved':
      return { recoveryCount: 0 };
    case 'effect.reconciled':
      return event.verdict === 'happened' ? { recoveryCount: 0 } : NOTHING;
    case 'job.succeeded':
      return { ...ENDED, finishedAt: event.at, result: event.result, failure: null };
    case 'job.failed':
      return { ...ENDED, finishedAt: event.at };
    case 'job.cancelled':
      return { ...ENDED, fenced: true, finishedAt: event.at };
    case 'dlq.entered': {
      // The attempt that failed by itself may hear that the job is over; one that was overruled is stale.
      const ownFailure = event.reason === 'non_retryable' || event.reason === 'exhausted';
      const deadLetter = { from: event.from, reason: event.reason, dlqId: null };
      return { failure: event.failure, nextRetryAt: null, deadLetter, fenced: !ownFailure };
    }
    case 'dlq.recorded':
      return { deadLetter: { ...must(job.deadLetter, 'dlq.entered came first'), dlqId: event.dlqId } };
    case 'job.promoted':
    case 'step.failed':
    case 'effect.intended':
    case 'effect.closed':
    case 'effect.unknown':
      return NOTHING;
  }
}

const NOTHING: Partial<Job> = {};
const RELEASED = { fenced: true, worker: null, claimedAt: null } as const;
const ENDED = { worker: null, claimedAt: null, nextRetryAt: null, waits: [] } as const;

function born({ at, spec, input }: JobCreated): Job {
  return {
    spec,
    input,
    rev: 0,
    status: 'scheduled',
    retryCount: 0,
    recoveryCount: 0,
    attemptId: null,
    fenced: false,
    worker: null,
    claimedAt: null,
    leasedMs: 0,
    nextRetryAt: null,
    waits: [],
    interruptedReason: null,
    deadLetter: null,
    failure: null,
    result: null,
    createdAt: at,
    startedAt: null,
    finishedAt: null,
    updatedAt: at,
  };
}

function arrange(): Record<string, Row> {
  const next: Record<string, Row> = {};
  const row = (type: string) => (next[type] ??= {});
  for (const { from, to, event } of TRANSITIONS) {
    if (from !== null) row(event)[from] = to;
  }
  for (const [type, statuses] of Object.entries(STANDING_EVENTS)) {
    for (const status of statuses) row(type)[status] = status;
  }
  return next;
}
