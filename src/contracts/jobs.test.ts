import { expect, test } from 'vitest';
import { STATUSES } from '../kernel/index.js';
import { aFatalFailure, created, deadLettered, event, given, PASTS } from '../testkit/index.js';
import { jobs, JOB_STATUSES, jobView } from './index.js';

test('JOB-2 the machine is the source’s, plus cancelled', () => {
  const edges = (added: boolean) =>
    jobs.machine.edges.filter((edge) => Boolean(edge.added) === added).map(({ from, to }) => `${from}→${to}`);
  expect(edges(false)).toEqual([
    'null→queued',
    'queued→running',
    'running→succeeded',
    'running→retrying',
    'running→dlq_pending',
    'retrying→running',
    'retrying→dlq_pending',
    'dlq_pending→dlq_recorded',
    'dlq_recorded→failed',
  ]);
  expect(edges(true)).toEqual(['queued→cancelled', 'running→cancelled', 'retrying→cancelled']);
});

test('JOB-2 machine and enum are one list, and the projection uses all of it', () => {
  expect(jobs.machine.states).toBe(JOB_STATUSES);
  const shown = new Set(
    STATUSES.map((status) => {
      const { job } = given(PASTS[status]);
      return job && jobs.project(job);
    }),
  );
  expect(shown).toEqual(new Set(JOB_STATUSES));
});

test('JOB-3 succeeded and failed exclude each other, and failed has one way in', () => {
  expect(jobs.machine.edges.filter(({ to }) => to === 'failed')).toEqual([
    { from: 'dlq_recorded', to: 'failed' },
  ]);
  expect(jobs.machine.edges.filter(({ from }) => from === 'succeeded' || from === 'failed')).toEqual([]);
});

test('JOB-1 the fields of a job', () => {
  const { job } = given(PASTS.failed);
  expect(job && jobView(job)).toEqual({
    job_id: 'job_00000001',
    tenant_id: 'acme',
    job_type: 'order',
    status: 'failed',
    retry_count: 0,
    idempotency_key: 'order_1001',
    trace_id: 'trace-1',
    error_code: 'TASK_EXECUTION_FAILED',
    payload_json: { id: 1 },
    next_retry_at: null,
    dlq_id: 'dlq_job_00000001',
    requeued_from: null,
    continues: null,
    result_json: null,
    queue: 'default',
    priority: 0,
    scheduled_at: '2026-02-25T12:00:00Z',
    started_at: '2026-02-25T12:00:00Z',
    finished_at: '2026-02-25T12:00:00Z',
    created_at: '2026-02-25T12:00:00Z',
    updated_at: '2026-02-25T12:00:00Z',
  });
  const fresh = given(created()).job;
  expect(fresh && jobView(fresh)).toMatchObject({ error_code: null, dlq_id: null });
});

test('an erased payload reads as null', () => {
  const { job } = given(event('job.created', { input: '!digest' }));
  expect(job && jobView(job).payload_json).toBeNull();
});

test('what a handler failed with is shown as it is, even if it looks like one of the engine’s codes', () => {
  const failure = { ...aFatalFailure, code: 'INVALID_TRANSITION' };
  const { job } = given(PASTS.running, deadLettered({ reason: 'non_retryable', failure }));
  expect(job && jobView(job).error_code).toBe('INVALID_TRANSITION');
});
