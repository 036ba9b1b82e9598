import { expect, test } from 'vitest';
import { changesOf } from '../kernel/index.js';
import { event } from '../testkit/index.js';
import { logEvent } from './log-event.js';

test('names of the engine are said in this vocabulary’s way, names of the application’s steps are left alone', () => {
  const occurrences = { chargeCard: 2, charge_card: 5, lookAt: 3 };
  const changes = changesOf([
    { jobId: 'job_1', rev: 1, events: [event('job.created')] },
    { jobId: 'job_1', rev: 2, events: [event('job.promoted'), event('attempt.started')] },
    { jobId: 'job_1', rev: 3, events: [event('checkpoint.saved', { occurrences })] },
  ]);
  expect(changes.map(logEvent).at(-1)?.data).toMatchObject({ occurrences });
  expect(changes.map(logEvent)[2]?.data).toHaveProperty('attempt_id');
});
