import type { Commit, Event, JobCreated } from './event.js';
import { InvariantViolation, must } from './invariant-violation.js';
import type { Job } from './job.js';
import { STANDING_EVENTS, TRANSITIONS } from './machine.js';
import type { Status } from './status.js';

type Row = Partial<Record<Status, Status>>;

/** Where an event leads, by the state it meets: the machine of `machine.ts`, arranged for looking up. */
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
  const next = copyOf(job);
  next.status = status;
  next.updatedAt = event.at;
  change(next, event);
  return next;
}

/** The job after one commit: all its events, and one revision more. */
export function evolveCommit(job: Job | null, commit: Pick<Commit, 'events'>): Job {
  let next = job;
  for (const event of commit.events) next = evolve(next, event);
  // Made by the last event, so nobody else has seen it yet.
  const after: Mutable<Job> = must(next === job ? null : next, 'a commit has events');
  after.rev += 1;
  return after;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Changes a copy that nobody else has seen yet. Assigning is measured at several times the speed of merging objects. */
function change(job: Mutable<Job>, event: Exclude<Event, JobCreated>): void {
  switch (event.type) {
    case 'attempt.started':
      job.attemptId = event.attemptId;
      job.fenced = false;
      job.worker = event.worker;
      job.claimedAt = event.at;
      job.startedAt ??= event.at;
      job.nextRetryAt = null;
      job.interruptedReason = null;
      return;
    case 'attempt.failed':
      release(job);
      job.failure = event.failure;
      job.retryCount = event.retryCount;
      job.nextRetryAt = event.nextRetryAt;
      job.leasedMs = 0;
      return;
    case 'attempt.interrupted':
      // The stretch that was cut off is not charged: a crash must not eat the attempt's time either.
      release(job);
      job.interruptedReason = event.reason;
      if (event.reason !== 'drained') job.recoveryCount += 1;
      return;
    case 'wait.begun':
      // A clock that was set back gives no time back.
      job.leasedMs += Math.max(0, event.at - must(job.claimedAt, 'a running job was claimed'));
      release(job);
      job.waits = event.waits.length === 0 ? job.waits : [...job.waits, ...event.waits];
      return;
    case 'wait.completed':
      job.waits = job.waits.filter((wait) => wait.key !== event.wait.key);
      job.recoveryCount = 0;
      return;
    case 'step.recorded':
    case 'effect.recorded':
      job.recoveryCount = 0;
      return;
    case 'child.started':
      job.recoveryCount = 0;
      job.waits = [...job.waits, event.wait];
      return;
    case 'checkpoint.saved':
      // No progress by itself: a handler may save the same one each time before it crashes.
      job.checkpointRev = job.rev + 1;
      return;
    case 'effect.reconciled':
      if (event.verdict === 'happened') job.recoveryCount = 0;
      return;
    case 'dlq.entered':
      job.failure = event.failure;
      job.nextRetryAt = null;
      job.deadLetter = { from: event.from, reason: event.reason, dlqId: null };
      // The attempt that failed by itself may hear that the job is over; one that was overruled is stale.
      job.fenced = event.reason !== 'non_retryable' && event.reason !== 'exhausted';
      return;
    case 'dlq.recorded':
      job.deadLetter = { ...must(job.deadLetter, 'dlq.entered came first'), dlqId: event.dlqId };
      return;
    case 'job.succeeded':
      finish(job, event.at);
      job.result = event.result;
      job.failure = null;
      return;
    case 'job.failed':
      finish(job, event.at);
      return;
    case 'job.cancelled':
      finish(job, event.at);
      job.fenced = true;
      return;
    case 'job.promoted':
    case 'step.failed':
    case 'effect.intended':
    case 'effect.closed':
    case 'effect.unknown':
      return;
  }
}

/**
 * Field by field, so that every job has the same shape in memory: `{ ...job }` takes its slow path as soon as jobs
 * come in more than a few shapes, and is then ten times slower (bench/kernel.ts).
 */
function copyOf(job: Job): Mutable<Job> {
  return {
    spec: job.spec,
    input: job.input,
    rev: job.rev,
    status: job.status,
    retryCount: job.retryCount,
    recoveryCount: job.recoveryCount,
    attemptId: job.attemptId,
    fenced: job.fenced,
    worker: job.worker,
    claimedAt: job.claimedAt,
    leasedMs: job.leasedMs,
    nextRetryAt: job.nextRetryAt,
    waits: job.waits,
    interruptedReason: job.interruptedReason,
    checkpointRev: job.checkpointRev,
    deadLetter: job.deadLetter,
    failure: job.failure,
    result: job.result,
    createdAt: job.createdAt,
    startedAt: job.startedAt,
    finishedAt: job.finishedAt,
    updatedAt: job.updatedAt,
  };
}

/** The lease is over and the attempt with it. */
function release(job: Mutable<Job>): void {
  job.fenced = true;
  job.worker = null;
  job.claimedAt = null;
}

function finish(job: Mutable<Job>, at: number): void {
  job.worker = null;
  job.claimedAt = null;
  job.nextRetryAt = null;
  job.waits = NO_WAITS;
  job.finishedAt = at;
}

const NO_WAITS: Job['waits'] = [];

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
    waits: NO_WAITS,
    interruptedReason: null,
    checkpointRev: null,
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
