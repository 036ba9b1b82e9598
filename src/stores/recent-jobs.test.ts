import { expect, test } from 'vitest';
import { evolve, type Event, type Job } from '../kernel/index.js';
import { PASTS } from '../testkit/index.js';
import { isStill, RecentJobs } from './recent-jobs.js';

const jobOf = (events: readonly Event[]): Job =>
  events.reduce<Job | null>((job, event) => evolve(job, event), null) as Job;

const queued = jobOf(PASTS.queued);
const ended = jobOf(PASTS.succeeded);

test('what was saved last is remembered, until the job has ended', () => {
  const recent = new RecentJobs<{ job: Job }>();
  recent.begin();
  recent.set('a', { job: queued });
  expect(recent.get('a')?.job).toBe(queued);
  recent.set('a', { job: ended });
  expect(recent.get('a')).toBeUndefined();
});

test('where nobody works, nothing is remembered', () => {
  const recent = new RecentJobs<{ job: Job }>();
  recent.set('a', { job: queued });
  expect(recent.get('a')).toBeUndefined();
});

test('the oldest are forgotten once the rest takes too much, and big inputs count for more', () => {
  const recent = new RecentJobs<{ job: Job }>(8_000);
  recent.begin();
  for (const jobId of ['a', 'b', 'c', 'd']) recent.set(jobId, { job: queued });
  expect(['a', 'd'].map((jobId) => recent.get(jobId) !== undefined)).toEqual([true, true]);
  recent.set('e', { job: { ...queued, input: 'x'.repeat(4_000) } });
  expect(['a', 'd', 'e'].map((jobId) => recent.get(jobId) !== undefined)).toEqual([false, true, true]);
});

test('a row of another revision, or of a job that was created anew, is not the one that is remembered', () => {
  const row = { rev: queued.rev, created_at: queued.createdAt };
  expect(isStill(queued, row)).toBe(true);
  expect(isStill(queued, { ...row, rev: row.rev + 1 })).toBe(false);
  expect(isStill(queued, { ...row, created_at: row.created_at + 1 })).toBe(false);
});
