import { describe, expect, test } from 'vitest';
import { created, event, T0 } from '../testkit/index.js';
import { decodeEvents, encodeEvents, type JobSpec } from './index.js';

describe('what is usual', () => {
  const USUAL: Partial<JobSpec> = {
    tenantId: 'default',
    taskId: 'job_00000001',
    idempotencyKey: 'job_00000001',
    traceId: 'trace-run-job_00000001-drawn',
  };
  const specIn = (body: string): unknown =>
    (JSON.parse(body.split('\n')[0] ?? '') as { events: { spec: unknown }[] }).events[0]?.spec;

  test('of a spec is not written, and read again', () => {
    const events = created(USUAL);
    const body = encodeEvents(events);
    expect(specIn(body)).toEqual({
      jobId: 'job_00000001',
      task: 'order',
      inputHash: 'hash-of-input',
      traceId: ['drawn'],
    });
    expect(decodeEvents(body)).toEqual({ ok: true, events });
  });

  test.each<Partial<JobSpec>>([
    { tenantId: 'acme' },
    { task: 'other' },
    { version: '2' },
    { taskId: 'task_0001' },
    { attemptBase: 1 },
    { queue: 'slow' },
    { priority: -1 },
    { idempotencyKey: 'order_1001' },
    { idempotencyScope: 'shop' },
    { traceId: 'trace-run-job_00000002-drawn' },
    { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    { scheduleType: 'cron' },
    { deadlineAt: T0 },
    { timeoutMs: 1 },
    { stepTimeoutMs: 1 },
    { retry: { maxRetries: 0, baseMs: 1_000, maxBackoffMs: 30_000, jitterMs: 300 } },
    { retry: { maxRetries: 3, baseMs: 0, maxBackoffMs: 30_000, jitterMs: 300 } },
    { retry: { maxRetries: 3, baseMs: 1_000, maxBackoffMs: 0, jitterMs: 300 } },
    { retry: { maxRetries: 3, baseMs: 1_000, maxBackoffMs: 30_000, jitterMs: 0 } },
    { recovery: 'abort' },
    { maxRecoveries: 0 },
    { signals: [] },
    { concurrencyKey: '' },
    { parent: { jobId: 'job_parent_1', step: 'ship', occurrence: 1 } },
    { firedBy: { scheduleId: 'nightly', fireAt: T0 } },
    { requeuedFrom: 'dlq_job_before' },
    { continues: { jobId: 'job_before_2', origin: 'job_before_1' } },
  ])('%o is, and does not stick to the jobs after it', (unusual) => {
    const [plain, events] = [created(USUAL), created({ ...USUAL, ...unusual })];
    expect(decodeEvents(encodeEvents(plain))).toEqual({ ok: true, events: plain });
    expect(decodeEvents(encodeEvents(events))).toEqual({ ok: true, events });
    expect(decodeEvents(encodeEvents(plain))).toEqual({ ok: true, events: plain });
  });

  test('something unknown does not pass in place of what is left out', () => {
    const spec = encodeEvents(created({ ...USUAL, tenantId: 'acme' }));
    expect(decodeEvents(spec)).toMatchObject({ ok: true });
    expect(decodeEvents(spec.replace('"tenantId"', '"tenantid"'))).toMatchObject({ ok: false });
    expect(decodeEvents(spec.replace(/"spec":{.*?}/, '"spec":7'))).toMatchObject({ ok: false });
    const attempt = encodeEvents([event('attempt.started')]);
    expect(attempt).toContain('"worker":');
    expect(decodeEvents(attempt.replace('"worker":', '"wOrker":'))).toMatchObject({ ok: false });
    const waited = encodeEvents([event('wait.completed', { payload: null })]);
    expect(decodeEvents(waited.replace('"outcome":', '"x":1,"outcome":'))).toMatchObject({ ok: false });
  });

  test('a trace is text, or what of it was drawn', () => {
    const body = encodeEvents(created(USUAL));
    for (const trace of ['[]', '["a","b"]', '[7]', '7', 'null'])
      expect(decodeEvents(body.replace('["drawn"]', trace)), trace).toMatchObject({ ok: false });
  });

  test.each([
    ['worker:w', { id: 'w', incarnation: 'w.1' }, 'w.1/7', false],
    ['worker:w', { id: 'w', incarnation: 'w/1' }, 'w/1/7', false],
    ['worker:v', { id: 'w', incarnation: 'w.1' }, 'w.1/7', true],
    ['client', { id: 'w', incarnation: 'w.1' }, 'w.1/7', true],
    ['worker:w', { id: 'w', incarnation: 'w.1' }, 'w.1', true],
    ['worker:w', { id: 'w', incarnation: 'w.1' }, 'w.1/7/8', true],
    ['worker:w', { id: 'w', incarnation: 'w.1' }, 'v.1/7', true],
    ['worker:w', { id: 'w', incarnation: 'w.1' }, 'w.12/7', true],
  ])(
    'an attempt of %s, run by %o, that is called %s: its worker is said %s',
    (actor, worker, attemptId, said) => {
      const events = [{ ...event('attempt.started', { attemptId, worker }), actor }];
      const body = encodeEvents(events);
      expect(body.includes('"worker":')).toBe(said);
      expect(decodeEvents(body)).toEqual({ ok: true, events });
    },
  );

  test('an attempt that nobody is named by is unreadable', () => {
    const events = [
      {
        ...event('attempt.started', { attemptId: 'w.1/7', worker: { id: 'w', incarnation: 'w.1' } }),
        actor: 'worker:w',
      },
    ];
    const body = encodeEvents(events);
    expect(decodeEvents(body.replace('worker:w', 'client'))).toMatchObject({ ok: false });
    expect(decodeEvents(body.replace('w.1/7', '/7'))).toMatchObject({ ok: false });
  });
});
