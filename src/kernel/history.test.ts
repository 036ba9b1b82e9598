import { describe, expect, test } from 'vitest';
import {
  aFatalFailure,
  claimedBy,
  created,
  deadLettered,
  event,
  given,
  interrupted,
  PASTS,
  T0,
  waitingFor,
} from '../testkit/index.js';
import {
  attemptKeyOf,
  attemptRecordsOf,
  changesOf,
  claimableAt,
  evolve,
  evolveCommit,
  InvariantViolation,
  isParked,
  must,
  openDlqItem,
  replay,
  STATUSES,
  wakesAt,
  type Commit,
  type Event,
  type Status,
} from './index.js';

const commitsOf = (...groups: (Event | readonly Event[])[]): Commit[] =>
  groups.map((events, i) => ({ jobId: 'job_00000001', rev: i + 1, events: [events].flat() }));

describe('replay', () => {
  test('a job and its steps come back from its log', () => {
    const { job, steps } = replay(
      commitsOf(created(), claimedBy('worker-a'), event('step.recorded'), event('job.succeeded')),
    );
    expect(job).toMatchObject({ status: 'succeeded', rev: 4 });
    expect(steps.size).toBe(1);
  });

  test('a gap, a fork or an empty log is a bug and says so', () => {
    const [first, second, third] = commitsOf(created(), claimedBy('worker-a'), event('job.succeeded'));
    if (!first || !second || !third) throw new Error('three commits');
    expect(() => replay([first, third])).toThrow('expected revision 2, found 3');
    expect(() => changesOf([first, second, second])).toThrow('expected revision 3, found 2');
    expect(() => replay([])).toThrow(InvariantViolation);
    expect(() => evolveCommit(null, { events: [] })).toThrow('a commit has events');
  });

  test('changes show each event between the jobs on either side of it', () => {
    const changes = changesOf(commitsOf(created(), claimedBy('worker-a')));
    expect(
      changes.map(({ rev, index, before, event: { type }, after }) => [
        rev,
        index,
        before?.status ?? null,
        type,
        after.status,
      ]),
    ).toEqual([
      [1, 0, null, 'job.created', 'scheduled'],
      [1, 1, 'scheduled', 'job.promoted', 'queued'],
      [2, 0, 'queued', 'attempt.started', 'running'],
    ]);
    expect(changes.map(({ after }) => after.rev)).toEqual([1, 1, 2]);
  });
});

describe('evolve', () => {
  test('an event that cannot follow is a corrupt log', () => {
    expect(() => evolve(null, event('job.promoted'))).toThrow('job.promoted cannot come first');
    expect(() => given(PASTS.queued, event('job.created'))).toThrow('job.created cannot follow queued');
    expect(() => given(PASTS.succeeded, event('job.cancelled'))).toThrow(
      'job.cancelled cannot follow succeeded',
    );
    expect(() => given(PASTS.waiting, claimedBy('worker-b'))).toThrow(
      'attempt.started cannot follow waiting',
    );
  });

  test('what the rules say is there is insisted on', () => {
    expect(() => must(undefined, 'a thing')).toThrow('expected: a thing');
    expect(must(0, 'zero')).toBe(0);
  });

  test('every sample past leads to its state', () => {
    for (const status of STATUSES) expect(given(PASTS[status]).job?.status).toBe(status);
  });
});

test('a job is parked only if every wait is for people and none expires', () => {
  const parked = (...waits: Parameters<typeof waitingFor>) => {
    const { job } = given(created(), claimedBy('worker-a'), waitingFor(...waits));
    return job && isParked(job);
  };
  const second = { key: 'second', step: 'second' };
  expect(parked({})).toBe(true);
  expect(parked({ kind: 'approval' }, { ...second, kind: 'message' })).toBe(true);
  expect(parked({ expiresAt: T0 + 1 })).toBe(false);
  expect(parked({}, { key: 'sleep#1', step: 'sleep', kind: 'timer', expiresAt: T0 + 1 })).toBe(false);
  expect(parked({ key: 'c#1', kind: 'child' })).toBe(false);
  const { job } = given(PASTS.running);
  expect(job && isParked(job)).toBe(false);
});

test('wakesAt names the first expiry of a waiting job, and of no other', () => {
  const at = (status: Status) => wakesAt(must(given(PASTS[status]).job, 'a job'));
  expect(at('waiting')).toBe(T0 + 1_000);
  for (const status of STATUSES.filter((one) => one !== 'waiting')) expect(at(status)).toBeNull();
  const later = given(
    created(),
    claimedBy('worker-a'),
    waitingFor({ expiresAt: T0 + 9 }, { key: 'b', step: 'b', expiresAt: T0 + 5 }, { key: 'c', step: 'c' }),
  ).job;
  expect(later && wakesAt(later)).toBe(T0 + 5);
  const woken = given(
    created(),
    claimedBy('worker-a'),
    waitingFor({}, { key: 'b', step: 'b', expiresAt: T0 + 5 }),
    event('wait.completed'),
  ).job;
  expect(woken?.waits).toHaveLength(1);
  expect(woken && wakesAt(woken)).toBeNull();
});

test('claimableAt names the moment for claimable states only', () => {
  const at = Object.fromEntries(
    STATUSES.map((status) => [status, claimableAt(must(given(PASTS[status]).job, 'a job'))]),
  );
  expect(at).toMatchObject({
    scheduled: T0 + 60_000,
    queued: T0,
    retrying: T0 + 1_000,
    interrupted: T0,
    unblocked: T0,
  });
  for (const status of [
    'running',
    'waiting',
    'dlq_pending',
    'dlq_recorded',
    'succeeded',
    'failed',
    'cancelled',
  ]) {
    expect(at[status], status).toBeNull();
  }
});

describe('attempt records', () => {
  const recordsOf = (...groups: Parameters<typeof commitsOf>) =>
    attemptRecordsOf(changesOf(commitsOf(...groups)));
  const begun = [created(), claimedBy('worker-a')] as const;
  const second = [...begun, event('attempt.failed', { at: T0 + 5 }), claimedBy('worker-b')] as const;

  test('RUN-2 one record per attempt, over all the claims it took', () => {
    expect(
      recordsOf(
        ...begun,
        interrupted(),
        claimedBy('worker-b'),
        event('attempt.failed', { at: T0 + 5 }),
        claimedBy('worker-c'),
        event('job.succeeded', { at: T0 + 9 }),
      ),
    ).toEqual([
      {
        attempt: 1,
        idempotencyKey: 'job_00000001:0',
        attemptIds: ['worker-a/1', 'worker-b/1'],
        startedAt: T0,
        endedAt: T0 + 5,
        outcome: 'failed',
        errorCode: 'TASK_EXECUTION_FAILED',
      },
      {
        attempt: 2,
        idempotencyKey: 'job_00000001:1',
        attemptIds: ['worker-c/1'],
        startedAt: T0,
        endedAt: T0 + 9,
        outcome: 'succeeded',
        errorCode: null,
      },
    ]);
  });

  test('JOB-6 each retry execution has the key {job_id}:{retry_count}, and the job_id never changes', () => {
    const { job } = given(...second);
    expect(job && attemptKeyOf(job)).toBe('job_00000001:1');
    expect(job?.spec.jobId).toBe('job_00000001');
  });

  test('a retry that was never claimed has no record', () => {
    const waitingForRetry = [...begun, event('attempt.failed')] as const;
    expect(recordsOf(...waitingForRetry)).toHaveLength(1);
    const abandoned = recordsOf(
      ...waitingForRetry,
      deadLettered({ from: 'retrying', reason: 'abandoned', at: T0 + 99 }),
    );
    expect(abandoned).toMatchObject([{ attempt: 1, endedAt: T0 }]);
    expect(recordsOf(...waitingForRetry, event('job.cancelled', { at: T0 + 99 }))).toMatchObject([
      { attempt: 1, outcome: 'failed' },
    ]);
  });

  test('a job cancelled before it ran has no record, one cancelled while running has', () => {
    expect(recordsOf(created(), event('job.cancelled'))).toEqual([]);
    expect(recordsOf(...second, event('job.cancelled', { at: T0 + 7 }))).toMatchObject([
      {},
      { outcome: 'cancelled', endedAt: T0 + 7 },
    ]);
  });

  test('a fatal failure ends its attempt', () => {
    expect(recordsOf(...begun, deadLettered({ failure: aFatalFailure, at: T0 + 3 }))).toMatchObject([
      { outcome: 'failed', errorCode: 'CARD_DECLINED', endedAt: T0 + 3 },
    ]);
  });
});

describe('dead-letter items', () => {
  test('JOB-7 the item keeps the underlying error, the payload and what led there', () => {
    const changes = changesOf(
      commitsOf(
        created(),
        claimedBy('worker-a'),
        event('attempt.failed', { at: T0 + 1 }),
        claimedBy('worker-b'),
        deadLettered({ at: T0 + 8 }),
      ),
    );
    expect(openDlqItem(changes)).toEqual({
      dlqId: 'dlq_job_00000001',
      tenantId: 'acme',
      task: 'order',
      version: 1,
      requeuedAs: null,
      discardAsked: null,
      trail: [],
      jobId: 'job_00000001',
      errorClass: 'transient',
      errorCode: 'TASK_EXECUTION_FAILED',
      payload: '{"id":1}',
      context: {
        attempts: attemptRecordsOf(changes),
        lastEvents: changes.map(({ event: { type, at } }) => ({ type, at })),
      },
      status: 'open',
      firstFailedAt: T0 + 1,
      createdAt: T0,
      updatedAt: T0,
    });
  });

  test('a long history is kept by its end', () => {
    const steps = Array.from({ length: 40 }, (_, i) => event('step.recorded', { occurrence: i + 1 }));
    const { context } = openDlqItem(
      changesOf(commitsOf(created(), claimedBy('worker-a'), ...steps, deadLettered())),
    );
    expect(context.lastEvents).toHaveLength(20);
    expect(context.lastEvents.at(-1)?.type).toBe('job.failed');
  });
});
