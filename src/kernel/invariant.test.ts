import { describe, expect, test } from 'vitest';
import {
  aWait,
  claimedBy,
  created,
  event,
  given,
  historyOf,
  interrupted,
  PASTS,
  T0,
} from '../testkit/index.js';
import {
  findBreaches,
  HISTORY_INVARIANTS,
  JOB_INVARIANTS,
  STATUSES,
  type Change,
  type Event,
  type Job,
} from './index.js';

test('the sample pasts break nothing', () => {
  for (const status of STATUSES) expect(findBreaches(historyOf(...PASTS[status])), status).toEqual([]);
});

/** A job that breaks each invariant, so that none of them can be a check that never fails. */
const BROKEN_JOBS: Record<keyof typeof JOB_INVARIANTS, Partial<Job>[]> = {
  'next_retry_at is set exactly while retrying': [{ nextRetryAt: T0 }, { status: 'retrying', worker: null }],
  'retries stay within the policy': [{ retryCount: 4 }, { retryCount: -1 }],
  'only a running job is leased': [
    { worker: null },
    { attemptId: null },
    { claimedAt: null },
    { fenced: true },
    { status: 'queued' },
  ],
  'a waiting job has open waits': [{ status: 'waiting', worker: null }],
  'a finished job has no open waits': [
    { status: 'cancelled', worker: null, finishedAt: T0, waits: [aWait()] },
  ],
  'failed only with a dead-letter item': [
    { status: 'failed', worker: null, finishedAt: T0 },
    {
      status: 'failed',
      worker: null,
      finishedAt: T0,
      deadLetter: { from: 'running', reason: 'exhausted', dlqId: null },
    },
    {
      status: 'cancelled',
      worker: null,
      finishedAt: T0,
      deadLetter: { from: 'running', reason: 'exhausted', dlqId: 'x' },
    },
  ],
  'finished_at is set exactly at the end': [{ finishedAt: T0 }, { status: 'cancelled', worker: null }],
  'a result exists exactly after success': [
    { result: '1' },
    { status: 'succeeded', worker: null, finishedAt: T0 },
  ],
  'interrupted_reason is set while interrupted': [{ status: 'interrupted', worker: null }],
};

describe('each invariant of a job notices its breach', () => {
  const job = given(PASTS.running).job as Job;
  for (const [name, breaches] of Object.entries(BROKEN_JOBS)) {
    test(name, () => {
      for (const breach of breaches) {
        const change = {
          rev: 9,
          index: 0,
          before: job,
          event: event('step.recorded'),
          after: { ...job, ...breach },
        };
        expect(findBreaches([change])).toContain(`${name}: revision 9`);
      }
    });
  }

  test('there is a breach for every one', () => {
    expect(Object.keys(BROKEN_JOBS).toSorted()).toEqual(Object.keys(JOB_INVARIANTS).toSorted());
  });
});

/** A change whose event is put in place of another, past all the rules that would refuse it. */
function forge(changes: readonly Change[], forged: Event): Change[] {
  const last = changes.at(-1);
  if (!last) throw new Error('no changes');
  return [...changes, { ...last, rev: last.rev + 1, before: last.after, event: forged }];
}

const running = historyOf(...created(), claimedBy('worker-a'));
const effect = historyOf(...created(), claimedBy('worker-a'), event('effect.intended'));
const waiting = historyOf(...PASTS.waiting);

const FORGED: Record<keyof typeof HISTORY_INVARIANTS, Change[][]> = {
  'one terminal event, and nothing after it': [forge(historyOf(...PASTS.succeeded), event('job.cancelled'))],
  'every claim has an attempt id of its own': [
    forge(historyOf(...created(), claimedBy('worker-a'), interrupted()), claimedBy('worker-a')),
  ],
  'one wait_completed for each correlation key': [
    forge(historyOf(...PASTS.unblocked), event('wait.completed')),
  ],
  'one recorded result for each step': [
    forge(forge(running, event('step.recorded')), event('step.recorded')),
    forge(forge(effect, event('effect.recorded')), event('effect.recorded')),
    forge(forge(effect, event('effect.reconciled', { verdict: 'happened' })), event('effect.recorded')),
  ],
  'an effect is entered again only after its entry was closed': [
    forge(running, event('effect.intended', { entry: 2 })),
    forge(effect, event('effect.intended', { entry: 2 })),
    forge(
      forge(effect, event('effect.reconciled', { verdict: 'cannotTell' })),
      event('effect.intended', { entry: 2 }),
    ),
  ],
  'every delay is the policy’s': [
    forge(running, event('attempt.failed', { retryCount: 1, nextRetryAt: T0 })),
  ],
  'no timer fires early': [
    forge(waiting, event('wait.completed', { wait: aWait({ expiresAt: T0 + 1 }), outcome: 'timeout' })),
    forge(waiting, event('wait.completed', { outcome: 'elapsed' })),
  ],
  'a waiting job is never claimed': [forge(waiting, claimedBy('worker-b'))],
};

describe('each invariant of a history notices its breach', () => {
  for (const [name, histories] of Object.entries(FORGED)) {
    test(name, () => {
      for (const changes of histories)
        expect(findBreaches(changes).some((breach) => breach.startsWith(`${name}: `))).toBe(true);
    });
  }

  test('there is a breach for every one', () => {
    expect(Object.keys(FORGED).toSorted()).toEqual(Object.keys(HISTORY_INVARIANTS).toSorted());
  });

  test('an entry that was closed lets the next one in', () => {
    for (const closing of [event('effect.closed'), event('effect.reconciled', { verdict: 'notHappened' })]) {
      expect(findBreaches(forge(forge(effect, closing), event('effect.intended', { entry: 2 })))).toEqual([]);
    }
  });
});
