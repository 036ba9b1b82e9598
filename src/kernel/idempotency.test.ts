import { describe, expect, test } from 'vitest';
import { created, given, PASTS, T0 } from '../testkit/index.js';
import { judgeJobStart, judgeRunStart, judgeTaskStart, type Event, type Job } from './index.js';

const jobFrom = (past: readonly Event[]): Job => {
  const { job } = given(past);
  if (!job) throw new Error('no job');
  return job;
};
const job = jobFrom(created({ timeoutMs: 30_000 }));
const other = jobFrom(created({ jobId: 'job_00000002' }));

describe('scheduled tasks', () => {
  test('TSK-5 nothing known: create', () => {
    expect(judgeTaskStart({}, { byTaskId: null, byKey: null })).toEqual({ kind: 'create' });
  });

  test('TSK-5 the same task_id, or the same scope and key, is a hit', () => {
    const same = { scheduleType: 'at', scheduledAt: T0, timeoutMs: 30_000, maxRetries: 3 } as const;
    expect(judgeTaskStart(same, { byTaskId: job, byKey: null })).toEqual({ kind: 'hit', job });
    expect(judgeTaskStart(same, { byTaskId: null, byKey: job })).toEqual({ kind: 'hit', job });
    expect(judgeTaskStart(same, { byTaskId: job, byKey: job })).toEqual({ kind: 'hit', job });
  });

  test('TSK-5 differing critical fields conflict, only those that the request states', () => {
    expect(judgeTaskStart({ timeoutMs: null }, { byTaskId: job, byKey: null })).toEqual({
      kind: 'duplicate',
      job,
      conflictFields: ['timeoutMs'],
    });
    const all = { scheduleType: 'cron', scheduledAt: T0 + 1, timeoutMs: 1, maxRetries: 2 } as const;
    expect(judgeTaskStart(all, { byTaskId: null, byKey: job })).toMatchObject({
      conflictFields: ['scheduleType', 'scheduledAt', 'timeoutMs', 'maxRetries'],
    });
    expect(judgeTaskStart({}, { byTaskId: job, byKey: null })).toEqual({ kind: 'hit', job });
  });

  test('TSK-5 task_id and key that hit different tasks: the task_id’s task, conflicting in the key', () => {
    expect(judgeTaskStart({ timeoutMs: 1 }, { byTaskId: job, byKey: other })).toEqual({
      kind: 'duplicate',
      job,
      conflictFields: ['idempotencyKey'],
    });
  });
});

describe('runs', () => {
  test('RUN-3 an existing key returns the existing run, for a different task it is an error', () => {
    expect(judgeRunStart({ taskId: 'task_0001' }, { byKey: job, live: job })).toEqual({ kind: 'hit', job });
    expect(judgeRunStart({ taskId: 'task_0002' }, { byKey: job, live: null })).toEqual({
      kind: 'duplicate',
      job,
      conflictFields: ['taskId'],
    });
  });

  test('RUN-2 a new key while another run of the task is live is refused', () => {
    expect(judgeRunStart({ taskId: 'task_0001' }, { byKey: null, live: job })).toEqual({
      kind: 'active',
      job,
    });
    expect(judgeRunStart({ taskId: 'task_0001' }, { byKey: null, live: jobFrom(PASTS.failed) })).toEqual({
      kind: 'create',
    });
    expect(judgeRunStart({ taskId: 'task_0001' }, { byKey: null, live: null })).toEqual({ kind: 'create' });
  });
});

describe('jobs', () => {
  test('DEC-6 the critical fields of a job are its type and its payload', () => {
    const same = { task: 'order', inputHash: 'hash-of-input' };
    expect(judgeJobStart(same, { byKey: null })).toEqual({ kind: 'create' });
    expect(judgeJobStart(same, { byKey: job })).toEqual({ kind: 'hit', job });
    expect(judgeJobStart({ ...same, inputHash: 'x' }, { byKey: job })).toMatchObject({
      conflictFields: ['inputHash'],
    });
    expect(judgeJobStart({ task: 'refund', inputHash: 'x' }, { byKey: job })).toMatchObject({
      kind: 'duplicate',
      conflictFields: ['task', 'inputHash'],
    });
  });
});
