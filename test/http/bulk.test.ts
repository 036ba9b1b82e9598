import { expect, onTestFinished, test } from 'vitest';
import { task, type StandardSchema } from '../../src/index.js';
import { ApiRig } from './api-rig.js';

/** A schema written by hand: a number, and nothing else. */
const Amount: StandardSchema<number, number> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'number' ? { value } : { issues: [{ message: 'must be a number' }] },
  },
};

test('JOB-13 bulk: each start has an answer of its own, and one that is refused stops no other', async () => {
  const pay = task({ name: 'pay', input: Amount }, ({ input }) => input);
  const rig = await ApiRig.start({ tasks: [pay] });
  onTestFinished(() => rig.stop());
  const start = (more: object) => ({ job_type: 'pay', ...more });
  const { status, data } = await rig.post('/api/v1/jobs/bulk', {
    jobs: [
      start({ payload: 1, idempotency_key: 'a' }),
      start({ payload: 'x' }),
      start({ payload: 2, idempotency_key: 'a' }),
      start({ payload: 3 }),
    ],
  });
  expect(status).toBe(201);
  expect(data['jobs']).toMatchObject([
    { status: 'queued', idempotent_hit: false },
    { error: { code: 'INVALID_INPUT', retryable: false } },
    { error: { code: 'DUPLICATE', conflict_fields: ['payload'] } },
    { status: 'queued', idempotent_hit: false },
  ]);
  expect((await rig.get('/api/v1/jobs')).data['jobs']).toHaveLength(2);
});

test('JOB-13 bulk: a time that is none, or an input without its key, is the trouble of one start', async () => {
  const keyed = task(
    {
      name: 'keyed',
      concurrency: { key: (order: { customer: { id: string } }) => order.customer.id, limit: 1 },
    },
    () => undefined,
  );
  const rig = await ApiRig.start({ tasks: [keyed] });
  onTestFinished(() => rig.stop());
  const { status, data } = await rig.post('/api/v1/jobs/bulk', {
    jobs: [
      { job_type: 'keyed', payload: {} },
      { job_type: 'keyed', payload: { customer: { id: 'c1' } }, run_at: 'tomorrow' },
      { job_type: 'keyed', payload: { customer: { id: 'c1' } } },
    ],
  });
  expect(status).toBe(201);
  expect(data['jobs']).toMatchObject([
    {
      error: {
        code: 'INVALID_INPUT',
        message: expect.stringContaining("concurrency key of task 'keyed'") as string,
      },
    },
    { error: { code: 'TASK_INVALID_SCHEDULE' } },
    { status: 'queued' },
  ]);
  expect((await rig.post('/api/v1/jobs', { job_type: 'keyed', payload: {} })).status).toBe(400);
});

test('JOB-13 bulk: a start that is malformed refuses the whole list, and is named', async () => {
  const rig = await ApiRig.start();
  onTestFinished(() => rig.stop());
  const fine = { job_type: 'pay' };
  for (const [more, field] of [
    [{ job_id: 'five5' }, 'body.jobs.1.job_id'],
    [{ idempotency_scope: '$x' }, 'body.jobs.1.idempotency_scope'],
    [{ unknown: 1 }, 'body.jobs.1'],
    [{ job_type: undefined }, 'body.jobs.1.job_type'],
  ] as const) {
    const { status, error } = await rig.post('/api/v1/jobs/bulk', { jobs: [fine, { ...fine, ...more }] });
    expect([status, error.code, error['details']]).toMatchObject([400, 'INVALID_REQUEST', { field }]);
  }
  expect((await rig.get('/api/v1/jobs')).data['jobs']).toEqual([]);
});
